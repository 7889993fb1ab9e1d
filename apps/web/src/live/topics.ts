/** The queries that an event makes old: the keys of the queries that are to be read again. */
import type { QueryKey } from '@tanstack/react-query';
import type { LodgeEvent } from '@lodge/sdk';

/** An agent's topics, by the first word of the event's type or by the whole type. */
const agentTopics: Readonly<Record<string, readonly string[]>> = {
  agent: ['settings'],
  channel: ['channels', 'approvals'],
  message: ['messages', 'channels', 'calls', 'usage'],
  schedule: ['schedules', 'runs', 'calls', 'usage'],
  hook: ['hooks', 'calls', 'usage'],
  connection: ['connections'],
  usage: ['usage'],
};

/** Topics of the account. */
const accountTopics: Readonly<Record<string, readonly string[]>> = {
  agent: ['agents', 'limits', 'audit'],
  api_key: ['keys', 'audit'],
  oauth: ['grants', 'audit'],
  webhook: ['webhooks', 'audit'],
  usage: ['spend', 'usage', 'limits'],
};

/** A key that ends with `exact` names one query, and none below it. */
export interface Stale {
  readonly queryKey: QueryKey;
  readonly exact?: boolean;
}

export function staleBy({ type, agent_id: id }: Pick<LodgeEvent, 'type' | 'agent_id'>): readonly Stale[] {
  const [subject = ''] = type.split('.', 1);
  const stale: Stale[] = [{ queryKey: ['events'] }];
  for (const topic of accountTopics[subject] ?? []) stale.push({ queryKey: [topic] });
  if (id === null) return stale;
  stale.push({ queryKey: ['agent', id, 'events'] });
  // The record tells its channels' status, too.
  if (subject === 'agent' || subject === 'channel') stale.push({ queryKey: ['agent', id], exact: true });
  for (const topic of agentTopics[subject] ?? []) stale.push({ queryKey: ['agent', id, topic] });
  return stale;
}
