/** The ends of messages. */
import type { HookMessageEnd } from '@lodge/domain';
import { sql } from 'kysely';
import type { Transaction } from '../database/database.ts';
import type { HookMessages, Hooks } from '../database/tables.ts';
import { endedWork, postponedWork, vainWork } from '../work/work.ts';
import type { Postponement } from '../work/work.ts';
import type { WorkClaim } from '../work/leases.ts';
import type { Selectable } from 'kysely';

export type EndedMessage = Pick<Selectable<HookMessages>, 'id' | 'hookId' | 'agentId' | 'accountId' | 'attempts'> &
  Pick<Selectable<Hooks>, 'name' | 'deliverTo' | 'deliverChannel' | 'deliverConversation'> & {
    readonly durationMs: number;
  };

/** Columns of a message `r` and its hook `h`. */
const endedColumns = sql`
  r.id, r.hook_id, r.agent_id, r.account_id, r.attempts, h.name, h.deliver_to, h.deliver_channel, h.deliver_conversation,
  greatest(0, coalesce(extract(epoch from r.ended_at - r.started_at) * 1000, 0))::float8 as duration_ms
`;

/** Ends a message and deletes the sender's text; undefined when the claim was lost. */
export async function endMessage(
  trx: Transaction,
  claim: WorkClaim,
  { status, reason }: { readonly status: HookMessageEnd; readonly reason: string | null },
): Promise<EndedMessage | undefined> {
  const { rows } = await sql<EndedMessage>`
    with ${endedWork('message', claim)}
    update hook_messages r set status = ${status}, ended_at = clock_timestamp(), attempts = w.attempts,
      started_at = case when ${status === 'skipped'} then null else w.started_at end, text = null,
      reason = ${reason}
    from ended w, hooks h where r.id = w.id and h.id = r.hook_id
    returning ${endedColumns}
  `.execute(trx);
  return rows[0];
}

/** Makes an ended message a failed one. */
export async function failMessage(trx: Transaction, id: string, reason: string): Promise<void> {
  await sql`update hook_messages set status = 'failed', reason = ${reason} where id = ${id}`.execute(trx);
}

/** Fails one message that nobody began within `maxWaitMs`; undefined when there is none. */
export async function failVainMessage(
  trx: Transaction,
  maxWaitMs: number,
  reason: string,
): Promise<EndedMessage | undefined> {
  const { rows } = await sql<EndedMessage>`
    with ${vainWork('message', maxWaitMs)}
    update hook_messages r set status = 'failed', ended_at = clock_timestamp(), text = null, reason = ${reason}
    from ended w, hooks h where r.id = w.id and h.id = r.hook_id
    returning ${endedColumns}
  `.execute(trx);
  return rows[0];
}

/** Ends only the claim. False when it was lost. */
export async function postponeMessage(trx: Transaction, claim: WorkClaim, wait: Postponement): Promise<boolean> {
  const { rows } = await sql`with ${postponedWork('message', claim, wait)} select from postponed`.execute(trx);
  return rows.length === 1;
}
