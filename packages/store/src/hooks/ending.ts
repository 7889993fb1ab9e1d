/**
 * Ends a message in one transaction under its claim: delivers its answer, and writes log and event. The sender's text is
 * deleted.
 */
import { oneLine, redact } from '@lodge/domain';
import type { NewEvent, TurnClaim, TurnEnd } from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import { deliverAnswer, deliveryFacts } from '../channels/deliver.ts';
import type { DeliverColumns } from '../channels/tables.ts';
import { storable } from '../channels/text.ts';
import type { Schema } from '../database/schema.ts';
import { appendEvent } from '../events/append.ts';
import { appendLog } from '../logs/log-rows.ts';
import { notify } from '../database/notifications.ts';
import { endedWork, storableReason } from '../work/work.ts';

export interface EndedMessage extends DeliverColumns {
  readonly id: string;
  readonly hook_id: string;
  readonly agent_id: string;
  readonly account_id: string;
  readonly attempts: number;
  readonly duration_ms: number;
  readonly name: string;
}

/** Columns of a message `r` and its hook `h`. */
export const endedColumns = sql`
  r.id, r.hook_id, r.agent_id, r.account_id, r.attempts, h.name, h.deliver_to, h.deliver_channel, h.deliver_conversation,
  greatest(0, coalesce(extract(epoch from r.ended_at - r.started_at) * 1000, 0))::float8 as duration_ms
`;

export async function endMessage(trx: Transaction<Schema>, claim: TurnClaim, end: TurnEnd): Promise<boolean> {
  const answer = end.answer === null ? null : storable(end.answer);
  const reason = end.reason === null ? null : storableReason(end.reason);
  const isSkipped = end.outcome === 'skipped';
  const { rows } = await sql<EndedMessage>`
    with ${endedWork('message', claim)}
    update hook_messages r set status = ${end.outcome}, ended_at = clock_timestamp(), attempts = w.attempts,
      started_at = case when ${isSkipped} then null else w.started_at end, text = null, reason = ${reason}
    from ended w, hooks h where r.id = w.id and h.id = r.hook_id
    returning ${endedColumns}
  `.execute(trx);
  const [message] = rows;
  if (message === undefined) return false;
  const trouble = await deliverAnswer(trx, message, answer);
  if (trouble !== null) {
    await sql`update hook_messages set status = 'failed', reason = ${trouble} where id = ${message.id}`.execute(trx);
  }
  // The agent may have another waiting message.
  await notify(trx, message.agent_id, 'hook_work');
  if (answer !== null && answer !== '') {
    const line = `Hook "${message.name}" was answered: ${redact(oneLine(answer))}`;
    await appendLog(trx, message.agent_id, [{ level: 'info', source: 'system', message: line }]);
  }
  const known: TurnEnd = trouble === null ? { ...end, reason, answer } : { outcome: 'failed', reason: trouble, answer };
  await appendEvent(trx, eventOf(message, known));
  return true;
}

export function eventOf(message: EndedMessage, { outcome, reason, answer }: TurnEnd): NewEvent {
  const { id: message_id, hook_id, name, attempts, duration_ms } = message;
  const of = { accountId: message.account_id, agentId: message.agent_id, by: null };
  const which = { hook_id, name, message_id };
  switch (outcome) {
    case 'answered': {
      const facts = { duration_ms: Math.round(duration_ms), attempts, ...deliveryFacts(message.deliver_to, answer) };
      return { type: 'hook.answered', data: { ...which, ...facts }, ...of };
    }
    case 'failed':
      return { type: 'hook.failed', data: { ...which, reason: reason ?? '', attempts }, ...of };
    case 'skipped':
      return { type: 'hook.skipped', data: { ...which, reason: reason ?? '' }, ...of };
  }
}
