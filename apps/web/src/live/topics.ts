/** The queries that an event makes old: the keys of the queries that are to be read again. */
import type { QueryKey } from '@tanstack/react-query';
import type { LodgeEvent } from '@lodge/sdk';

interface Topics {
  readonly account?: readonly string[];
  readonly agent?: readonly string[];
  /** Whether the agent's record is another: its status, its channels, its settings. */
  readonly record?: true;
}

/** By the beginnings of types; the longest counts. Each public type has a row, or a page would be old without a word. */
const table: Readonly<Record<string, Topics>> = {
  'agent.': { account: ['agents', 'limits', 'audit'], agent: ['settings', 'members'], record: true },
  'agent.member_': { account: ['audit'], agent: ['members', 'settings'], record: true },
  'agent.skill': { account: ['agents', 'skills', 'audit'], agent: ['skills'], record: true },
  'agent.port_': { account: ['audit'], agent: ['ports'] },
  'agent.restored': {
    account: ['agents', 'limits', 'audit'],
    agent: ['settings', 'members', 'skills', 'ports', 'snapshots', 'files'],
    record: true,
  },
  'browser.': { account: ['audit'], agent: ['browser'] },
  'channel.': { account: ['audit'], agent: ['channels', 'approvals'], record: true },
  'message.': { agent: ['messages', 'channels', 'calls', 'usage'] },
  'message.retried': { account: ['audit'], agent: ['messages'] },
  'schedule.': { account: ['audit'], agent: ['schedules', 'runs', 'calls', 'usage'] },
  'snapshot.': { account: ['limits', 'audit'], agent: ['snapshots'] },
  'hook.': { account: ['audit'], agent: ['hooks', 'calls', 'usage'] },
  'connection.': { account: ['audit'], agent: ['connections'] },
  'confirmation.': { account: ['confirmations', 'audit'], agent: ['calls'] },
  'usage.': { account: ['spend', 'usage', 'limits'], agent: ['usage'] },
  'api_key.': { account: ['keys', 'limits', 'audit'] },
  'oauth.': { account: ['grants', 'audit'] },
  'webhook.': { account: ['webhooks', 'limits', 'audit'] },
  'skill.': { account: ['skills', 'audit'] },
  'session.': { account: ['sessions', 'audit'] },
  'sessions.': { account: ['sessions', 'audit'] },
  'password.': { account: ['sessions', 'audit'] },
  'totp.': { account: ['session', 'audit'] },
  'invitation.': { account: ['invitations', 'people', 'audit'] },
  'account.': { account: ['session', 'audit'] },
  'account.spend_limit_set': { account: ['spend', 'usage', 'limits', 'people', 'audit'] },
};
const longestFirst = Object.entries(table).sort(([a], [b]) => b.length - a.length);

/** Undefined: a type that came after these pages. */
export const topicsOf = (type: string): Topics | undefined =>
  longestFirst.find(([beginning]) => type.startsWith(beginning))?.[1];

/** A key that ends with `exact` names one query, and none below it. */
export interface Stale {
  readonly queryKey: QueryKey;
  readonly exact?: boolean;
}

export function staleBy({ type, agent_id: id }: Pick<LodgeEvent, 'type' | 'agent_id'>): readonly Stale[] {
  const { account = [], agent = [], record } = topicsOf(type) ?? {};
  const stale: Stale[] = [{ queryKey: ['events'] }, ...account.map((topic) => ({ queryKey: [topic] }))];
  if (id === null) return stale;
  stale.push({ queryKey: ['agent', id, 'events'] });
  if (record === true) stale.push({ queryKey: ['agent', id], exact: true });
  return [...stale, ...agent.map((topic) => ({ queryKey: ['agent', id, topic] }))];
}
