/** Changes of the records of agents, keys and accounts. The audit log names them by these types. */
import type { InvitedRole } from '../scopes.ts';
import { limitWords, reachedWords } from '../spend.ts';
import type { SpendLimit, SpendPeriod } from '../spend.ts';
import { kind, quiet, told } from './kind.ts';

/** A program by its own words, and the host that it gets answers at. */
type Program = { readonly name: string; readonly host: string };
type Member = { readonly name: string };

export const agentRecordEvents = {
  'agent.created': told<{ readonly name: string }>('The agent is there; its machine is being made.'),
  'agent.forked': told<{ readonly snapshot_id: string; readonly forks: readonly string[] }>(
    'Other agents were made from a snapshot of the agent; `forks` has their ids.',
  ),
  'agent.imported': told<{ readonly name: string; readonly missing: number }>(
    'The agent was made from an export; `missing` says how many things are to be given anew.',
  ),
  'agent.export_requested': told<{ readonly snapshot_id?: string }>(
    'Somebody asked for an export of the agent, or of its snapshot `snapshot_id`.',
  ),
  'agent.updated': told<{ readonly fields: readonly string[] }>(
    'The record of the agent was changed; `fields` names what was given.',
  ),
  'agent.deleted': told('The agent is gone for the API; its machine and its files are being removed.'),
  'agent.start_requested': told('Somebody asked for the agent to start.'),
  'agent.resume_requested': told('Somebody asked for the agent to resume.'),
  'agent.pause_requested': told('Somebody asked for the agent to pause.'),
  'agent.stop_requested': told('Somebody asked for the agent to stop.'),
  'agent.restart_requested': told('Somebody asked for the agent to restart.'),
  'agent.upgrade_requested': told('Somebody asked for the agent to move to the newest image.'),
  'agent.restore_requested': told<{ readonly snapshot_id: string }>(
    'Somebody asked for the agent to go back to a snapshot.',
  ),
  'agent.root_used': quiet<{ readonly by: 'exec' | 'terminal' }>(),
  'agent.member_created': told<Member>('A member was added to the agent; `name` is whose.'),
  'agent.member_updated': told<Member>('A member of the agent was changed.'),
  'agent.member_deleted': told<Member>('A member of the agent was removed.'),
  'agent.link_created': quiet<{ readonly page: string; readonly port?: number }>(),
  'agent.port_published': told<{ readonly port: number; readonly public: boolean }>(
    'A port of the agent was published, or made public or private.',
  ),
  'agent.port_unpublished': told<{ readonly port: number }>('A port of the agent is not published any more.'),
} as const;

export const accountEvents = {
  'api_key.created': told<{
    readonly name: string;
    readonly last4: string;
    readonly scopes: readonly string[];
    readonly expires_at: string | null;
  }>('An API key was made; the key itself is in no event.'),
  'api_key.revoked': told<{ readonly with?: readonly string[] }>(
    'An API key was revoked; `with` has the ids of keys that it had made, which ended with it.',
  ),
  'device.approved': quiet<{ readonly name: string; readonly scopes: readonly string[]; readonly from: string }>(),
  'device.denied': quiet<{ readonly name: string; readonly from: string }>(),
  'oauth.approved': quiet<Program & { readonly scopes: readonly string[] }>(),
  'oauth.denied': quiet<Program>(),
  'oauth.granted': told<Program & { readonly scopes: readonly string[]; readonly ended?: readonly string[] }>(
    'A program got the access that a person gave it; `ended` has the ids of grants that made room.',
  ),
  'oauth.revoked': told<Program>('The access of a program was revoked.'),
  'oauth.reuse_detected': kind<Program & { readonly of: 'code' | 'refresh_token' }>({
    level: 'warn',
    public: 'A code or refresh token came twice, so somebody may have a copy: the access that it gave was revoked.',
    sentence: null,
  }),
  'account.created': quiet(),
  'account.joined': quiet<{ readonly by: string }>(),
  'account.updated': told<{ readonly record_llm_calls: boolean }>('A setting of the account was changed.'),
  'account.spend_limit_set': told<{
    readonly daily_usd: string | null;
    readonly monthly_usd: string | null;
    readonly action: SpendLimit['action'] | null;
  }>("The spend limit of an account was set or removed: the account's own, or one that its owner set for somebody."),
  'webhook.created': told<{ readonly url: string }>(
    'A webhook was made; `url` is the origin of its address. Its secret is in no event.',
  ),
  'webhook.updated': told<{ readonly fields: readonly string[] }>(
    'A webhook was changed; `fields` names what was given.',
  ),
  'webhook.removed': told('A webhook was deleted.'),
  'webhook.disabled': told<{ readonly webhook_id: string; readonly reason: string }>(
    'A webhook is told nothing more: its receiver has failed for a day, or wants no more.',
  ),
  'session.created': told<{ readonly second_factor: string }>(
    'Somebody signed in; `second_factor` is what was given beside the password.',
  ),
  'session.ended': told('A session was ended: by signing out, or from elsewhere.'),
  'sessions.ended': told<{ readonly sessions: number }>('All other sessions of the account were ended.'),
  'password.changed': told<{ readonly sessions_ended: number }>(
    'The password was changed, and all other sessions were ended.',
  ),
  'password.reset': told<{ readonly sessions_ended: number; readonly totp_removed: boolean }>(
    'The password was set by a link, and all sessions before were ended.',
  ),
  'totp.begun': quiet(),
  'totp.enabled': told('A second factor is asked for from here on.'),
  'totp.removed': told('No second factor is asked for any more.'),
  'invitation.created': told<{ readonly email: string | null; readonly role: InvitedRole }>(
    'Somebody was invited; the link is in no event.',
  ),
  'invitation.accepted': told('Somebody used an invitation, and has an account now.'),
  'invitation.ended': told('An invitation was deleted before it was used.'),
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
