/** How confirmations end: by the call that waits in a turn, or by the queue of work. */
import type { CallOutcome } from '@lodge/domain';
import { sql } from 'kysely';
import type { Transaction } from '../database/database.ts';
import { notify } from '../database/notifications.ts';
import type { WorkClaim } from '../work/leases.ts';
import { inMs } from '../work/leases.ts';
import { endedWork, postponedWork, vainWork } from '../work/work.ts';
import type { Postponement } from '../work/work.ts';
import type { ConfirmationRow } from './confirmations.ts';

/**
 * Begins an allowed call. Whoever gets the row makes the call; nobody else gets it, ever. Its work waits until the call must be
 * over.
 */
export async function beginSending(trx: Transaction, id: string, forMs: number): Promise<ConfirmationRow | undefined> {
  const row = await trx
    .updateTable('confirmations')
    .set({ status: 'sending', sendsUntil: inMs(forMs), waitsUntil: null })
    .where('id', '=', id)
    .where('status', '=', 'allowed')
    .returningAll()
    .executeTakeFirst();
  if (row !== undefined) {
    await sql`update work set due_at = ${inMs(forMs)} where kind = 'confirmation' and id = ${id}`.execute(trx);
  }
  return row;
}

interface SendingEnd {
  readonly outcome: CallOutcome;
  /** Null where the agent gets the answer by itself. */
  readonly resultSealed: string | null;
  readonly told: boolean;
  /** A turn that tells the agent has this time for it. Without one the queue tells it at once. */
  readonly turnMs?: number;
}

/** Ends a call that is under way. Undefined where it is not any more. Its work is over if the agent knows the end. */
export async function endSending(
  trx: Transaction,
  id: string,
  { outcome, resultSealed, told, turnMs }: SendingEnd,
): Promise<ConfirmationRow | undefined> {
  const row = await trx
    .updateTable('confirmations')
    .set({
      status: outcome,
      resultSealed,
      told,
      callSealed: null,
      sendsUntil: null,
      endedAt: sql<Date>`clock_timestamp()`,
    })
    .where('id', '=', id)
    .where('status', '=', 'sending')
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return undefined;
  if (told) await forgetWork(trx, id);
  else await (turnMs === undefined ? hurryWork(trx, id) : holdWork(trx, id, turnMs));
  return row;
}

/** Ends an allowed command, which Lodge does not run: its agent may run it once within this time. */
export const givePass = (trx: Transaction, id: string, forMs: number): Promise<ConfirmationRow | undefined> =>
  trx
    .updateTable('confirmations')
    .set({
      status: 'done',
      callSealed: null,
      waitsUntil: null,
      sendsUntil: inMs(forMs),
      endedAt: sql<Date>`clock_timestamp()`,
    })
    .where('id', '=', id)
    .where('status', '=', 'allowed')
    .returningAll()
    .executeTakeFirst();

interface SameCommand {
  readonly agentId: string;
  readonly digest: string;
  /** Null: it is unknown. */
  readonly conversation: string | null;
}

/** Takes a pass for this very command in its conversation. Each is taken once. */
export async function takePass(trx: Transaction, { agentId, digest, conversation }: SameCommand): Promise<boolean> {
  const { rows } = await sql`
    update confirmations set sends_until = null
    where id = (
      select id from confirmations
      where agent_id = ${agentId} and subject = 'command' and status = 'done' and digest = ${digest}
        and sends_until > clock_timestamp()
        and (${conversation}::text is null or ${conversation} = coalesce(conversation, 'confirmation:' || id))
      limit 1 for update
    )
    returning id
  `.execute(trx);
  return rows.length === 1;
}

/** A call whose time is over, and that nobody ended: nothing is known of it. */
export const endUnknown = (trx: Transaction, id: string): Promise<ConfirmationRow | undefined> =>
  trx
    .updateTable('confirmations')
    .set({ status: 'unknown', callSealed: null, sendsUntil: null, endedAt: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .where('status', '=', 'sending')
    .where('sendsUntil', '<=', sql<Date>`clock_timestamp()`)
    .returningAll()
    .executeTakeFirst();

/** The agent has heard the end in its turn. */
export async function markTold(trx: Transaction, id: string): Promise<void> {
  const known = { told: true, waitsUntil: null, resultSealed: null };
  await trx.updateTable('confirmations').set(known).where('id', '=', id).execute();
  await forgetWork(trx, id);
}

/** Nobody waits in a turn any more: what is decided, or was a moment ago, is done by the queue at once. */
export async function endWait(trx: Transaction, id: string): Promise<void> {
  await trx.updateTable('confirmations').set({ waitsUntil: null }).where('id', '=', id).execute();
  await hurryWork(trx, id);
}

/** The work of a decision waits for this time from now, as whoever decided does it. */
export async function holdWork(trx: Transaction, id: string, forMs: number): Promise<void> {
  await sql`
    update work set due_at = ${inMs(forMs)} where kind = 'confirmation' and id = ${id} and claim_holder is null
  `.execute(trx);
}

async function hurryWork(trx: Transaction, id: string): Promise<void> {
  const { rows } = await sql<{ agentId: string }>`
    update work set due_at = clock_timestamp() where kind = 'confirmation' and id = ${id} and claim_holder is null
    returning agent_id
  `.execute(trx);
  for (const { agentId } of rows) await notify(trx, agentId, 'work');
}

async function forgetWork(trx: Transaction, id: string): Promise<void> {
  await sql`delete from work where kind = 'confirmation' and id = ${id} and claim_holder is null`.execute(trx);
}

/** Ends a piece of work. False when the claim was lost. The answer is forgotten, as the agent knows it. */
export async function endConfirmationWork(trx: Transaction, claim: WorkClaim): Promise<boolean> {
  const { rows } = await sql`
    with ${endedWork('confirmation', claim)}
    update confirmations c set told = true, result_sealed = null, attempts = w.attempts from ended w where c.id = w.id
    returning c.id
  `.execute(trx);
  return rows.length === 1;
}

export async function postponeConfirmation(trx: Transaction, claim: WorkClaim, wait: Postponement): Promise<boolean> {
  const { rows } = await sql`with ${postponedWork('confirmation', claim, wait)} select from postponed`.execute(trx);
  return rows.length === 1;
}

/** Ends a call whose work has ended before it: it was not made, or nothing is known of it. Undefined where it has its end. */
export const endAbandoned = (trx: Transaction, id: string): Promise<ConfirmationRow | undefined> =>
  trx
    .updateTable('confirmations')
    .set({
      status: sql<'failed' | 'unknown'>`case when status = 'allowed' then 'failed' else 'unknown' end`,
      callSealed: null,
      sendsUntil: null,
      endedAt: sql<Date>`clock_timestamp()`,
    })
    .where('id', '=', id)
    .where('status', 'in', ['allowed', 'sending'])
    .returningAll()
    .executeTakeFirst();

/** Ends one piece that nobody began in time. */
export async function failVainConfirmation(trx: Transaction, maxWaitMs: number): Promise<ConfirmationRow | undefined> {
  const { rows } = await sql<ConfirmationRow>`
    with ${vainWork('confirmation', maxWaitMs)}
    update confirmations c set told = true, result_sealed = null from ended w where c.id = w.id returning c.*
  `.execute(trx);
  return rows[0];
}

/** Closes one confirmation that nobody decided in time. */
export async function expireOne(trx: Transaction): Promise<ConfirmationRow | undefined> {
  const { rows } = await sql<ConfirmationRow>`
    update confirmations set status = 'expired', call_sealed = null, ended_at = clock_timestamp()
    where id = (
      select id from confirmations where status = 'pending' and expires_at <= clock_timestamp()
      order by expires_at limit 1 for update skip locked
    )
    returning *
  `.execute(trx);
  const [row] = rows;
  if (row !== undefined) await notify(trx, row.id, 'confirmation_changed');
  return row;
}
