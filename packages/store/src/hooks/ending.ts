/** Ends a message: what the log and the events say of it, in one transaction under its claim. What was sent is forgotten. */
import { redact } from '@lodge/domain';
import type { HookClaim, HookEnd, NewEvent } from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import { storable } from '../channels/text.ts';
import type { Schema } from '../database/schema.ts';
import { appendEvent } from '../events/append.ts';
import { appendLog } from '../logs/log-rows.ts';
import { tellWork } from './notify.ts';

const maxReasonChars = 1_000;

export interface EndedMessage {
  readonly id: string;
  readonly hook_id: string;
  readonly agent_id: string;
  readonly account_id: string;
  readonly attempts: number;
  readonly duration_ms: number;
  readonly name: string;
}

export async function endMessage(trx: Transaction<Schema>, { id, claim }: HookClaim, end: HookEnd): Promise<boolean> {
  const { state, answer } = end;
  const reason = end.reason === null ? null : storable(end.reason, maxReasonChars);
  const isSkipped = state === 'skipped';
  const { rows } = await sql<EndedMessage>`
    update hook_messages r set status = ${state}, ended_at = clock_timestamp(), claim_holder = null, claim_until = null,
      started_at = case when ${isSkipped} then null else r.started_at end, attempt_at = null, text = null, reason = ${reason}
    from hooks h
    where r.id = ${id} and r.claim = ${claim} and r.claim_until is not null and r.status is null and h.id = r.hook_id
    returning r.id, r.hook_id, r.agent_id, r.account_id, r.attempts, h.name,
      greatest(0, coalesce(extract(epoch from r.ended_at - r.started_at) * 1000, 0))::float8 as duration_ms
  `.execute(trx);
  const [message] = rows;
  if (message === undefined) return false;
  // The agent may have another message that waits.
  await tellWork(trx, message.agent_id);
  if (answer !== null && answer !== '') {
    const told = `Hook "${message.name}" was answered: ${redact(answer)}`;
    await appendLog(trx, message.agent_id, [{ level: 'info', source: 'system', message: told }]);
  }
  await appendEvent(trx, eventOf(message, state, reason ?? ''));
  return true;
}

export function eventOf(message: EndedMessage, state: HookEnd['state'], reason: string): NewEvent {
  const { id: message_id, hook_id, name, attempts, duration_ms } = message;
  const of = { accountId: message.account_id, agentId: message.agent_id, by: null };
  const which = { hook_id, name, message_id };
  switch (state) {
    case 'answered':
      return { type: 'hook.answered', data: { ...which, duration_ms: Math.round(duration_ms), attempts }, ...of };
    case 'failed':
      return { type: 'hook.failed', data: { ...which, reason, attempts }, ...of };
    case 'skipped':
      return { type: 'hook.skipped', data: { ...which, reason }, ...of };
  }
}
