/** Changes of the records of agents, keys and accounts. The audit log names them by these types. */
import type { InvitedRole } from '../scopes.ts';
import { limitWords, reachedWords } from '../spend.ts';
import type { SpendLimit, SpendPeriod } from '../spend.ts';
import { kind, quiet } from './kind.ts';
import type { EventKind, NoData } from './kind.ts';

/** A program by its own words, and the host that it gets answers at. */
type Program = { readonly name: string; readonly host: string };
type Member = { readonly name: string };

const published = <Data extends Readonly<Record<string, unknown>>>(meaning: string): EventKind<Data> => ({
  level: 'info',
  public: meaning,
  sentence: null,
});

export const agentRecordEvents = {
  'agent.created': published<{ readonly name: string }>('The agent is there; its machine is being made.'),
  'agent.updated': published<{ readonly fields: readonly string[] }>(
    'The record of the agent was changed; `fields` names what was given.',
  ),
  'agent.deleted': published<NoData>('The agent is gone for the API; its machine and its files are being removed.'),
  'agent.start_requested': quiet(),
  'agent.resume_requested': quiet(),
  'agent.pause_requested': quiet(),
  'agent.stop_requested': quiet(),
  'agent.restart_requested': quiet(),
  'agent.upgrade_requested': quiet(),
  'agent.root_used': quiet<{ readonly by: 'exec' | 'terminal' }>(),
  'agent.member_created': quiet<Member>(),
  'agent.member_updated': quiet<Member>(),
  'agent.member_deleted': quiet<Member>(),
  'agent.link_created': quiet<{ readonly page: string; readonly port?: number }>(),
  'agent.port_published': quiet<{ readonly port: number; readonly public: boolean }>(),
  'agent.port_unpublished': quiet<{ readonly port: number }>(),
} as const;

export const accountEvents = {
  'api_key.created': published<{
    readonly name: string;
    readonly last4: string;
    readonly scopes: readonly string[];
    readonly expires_at: string | null;
  }>('An API key was made; the key itself is in no event.'),
  'api_key.revoked': published<{ readonly with?: readonly string[] }>(
    'An API key was revoked; `with` has the ids of keys that it had made, which ended with it.',
  ),
  'device.approved': quiet<{ readonly name: string; readonly scopes: readonly string[]; readonly from: string }>(),
  'device.denied': quiet<{ readonly name: string; readonly from: string }>(),
  'oauth.approved': quiet<Program & { readonly scopes: readonly string[] }>(),
  'oauth.denied': quiet<Program>(),
  'oauth.granted': published<Program & { readonly scopes: readonly string[]; readonly ended?: readonly string[] }>(
    'A program got the access that a person gave it; `ended` has the ids of grants that made room.',
  ),
  'oauth.revoked': published<Program>('The access of a program was revoked.'),
  'oauth.reuse_detected': kind<Program & { readonly of: 'code' | 'refresh_token' }>({
    level: 'warn',
    public: 'A code or refresh token came twice, so somebody may have a copy: the access that it gave was revoked.',
    sentence: null,
  }),
  'account.created': quiet(),
  'account.joined': quiet<{ readonly by: string }>(),
  'account.updated': quiet<{ readonly record_llm_calls: boolean }>(),
  'account.spend_limit_set': quiet<{
    readonly daily_usd: string | null;
    readonly monthly_usd: string | null;
    readonly action: SpendLimit['action'] | null;
  }>(),
  'webhook.created': quiet<{ readonly url: string }>(),
  'webhook.updated': quiet<{ readonly fields: readonly string[] }>(),
  'webhook.removed': quiet(),
  'webhook.disabled': published<{ readonly webhook_id: string; readonly reason: string }>(
    'A webhook is told nothing more: its receiver has failed for a day, or wants no more.',
  ),
  'session.created': quiet<{ readonly second_factor: string }>(),
  'session.ended': quiet(),
  'sessions.ended': quiet<{ readonly sessions: number }>(),
  'password.changed': quiet<{ readonly sessions_ended: number }>(),
  'password.reset': quiet<{ readonly sessions_ended: number; readonly totp_removed: boolean }>(),
  'totp.begun': quiet(),
  'totp.enabled': quiet(),
  'totp.removed': quiet(),
  'invitation.created': quiet<{ readonly email: string | null; readonly role: InvitedRole }>(),
  'invitation.ended': quiet(),
  'link.created': quiet<{ readonly kind: string; readonly removes_totp?: boolean }>(),
} as const;

type LimitData = {
  readonly scope: 'agent' | 'account';
  readonly period: SpendPeriod;
  readonly limit_usd: string;
  readonly spent_usd: string;
  readonly action: SpendLimit['action'];
  /** Start of the window, RFC 3339. */
  readonly starting_at: string;
};

const standingOf = ({ scope, period, limit_usd, spent_usd, action }: LimitData) => ({
  scope,
  period,
  limitUsd: limit_usd,
  spentUsd: spent_usd,
  inFlightUsd: '0',
  action,
});

export const usageEvents = {
  'usage.limit_warning': kind<LimitData>({
    level: 'warn',
    public: 'Four fifths of a spend limit are used up; once for each window and limit.',
    sentence: (data) => `${limitWords(standingOf(data))} is used up by four fifths.`,
  }),
  'usage.limit_reached': kind<LimitData>({
    level: 'warn',
    public: 'A spend limit is reached, and model calls are refused; once for each window and limit.',
    sentence: (data) => reachedWords([standingOf(data)], new Date(data.starting_at)).message,
  }),
} as const;
