/** Messages of hooks, as their senders and owners see them. */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import { storable } from '../channels/text.ts';
import type { Queries, Transaction } from '../database/database.ts';
import { advisoryLockClasses } from '../database/locks.ts';
import { notify } from '../database/notifications.ts';
import type { HookMessages } from '../database/tables.ts';
import { putWork } from '../work/work.ts';
import type { HookPlace } from './hooks.ts';

export interface HookMessageRow extends Pick<
  Selectable<HookMessages>,
  'id' | 'hookId' | 'status' | 'attempts' | 'reason' | 'receivedAt' | 'startedAt' | 'endedAt'
> {
  /** Whether its turn is in progress. */
  readonly isClaimed: boolean;
}

/** Returns messages newest first, before the message of the given id. */
export const hookMessages = (
  db: Queries,
  { hookId, agentId, accountId }: HookPlace,
  { before, limit }: { readonly before?: string; readonly limit: number },
): Promise<readonly HookMessageRow[]> =>
  db
    .selectFrom('hookMessages as m')
    .leftJoin('work as w', (join) => join.onRef('w.id', '=', 'm.id').on('w.kind', '=', 'message'))
    .select(['m.id', 'm.hookId', 'm.status', 'm.receivedAt', 'm.endedAt'])
    .select((eb) => [
      eb('w.claimHolder', 'is not', null).$castTo<boolean>().as('isClaimed'),
      eb.fn.coalesce('w.attempts', 'm.attempts').as('attempts'),
      eb.fn.coalesce('w.reason', 'm.reason').as('reason'),
      eb.fn.coalesce('w.startedAt', 'm.startedAt').as('startedAt'),
    ])
    .where('m.hookId', '=', hookId)
    .where('m.agentId', '=', agentId)
    .where('m.accountId', '=', accountId)
    .$if(before !== undefined, (query) =>
      query.where('m.seq', '<', (eb) =>
        eb.selectFrom('hookMessages as b').select('b.seq').where('b.id', '=', before!).where('b.hookId', '=', hookId),
      ),
    )
    .orderBy('m.seq', 'desc')
    .limit(limit)
    .execute();

/** Returns the id of the message that came with this delivery. */
export async function messageOfDelivery(trx: Transaction, hookId: string, deliveryId: string): Promise<string | null> {
  const found = await trx
    .selectFrom('hookMessages')
    .select('id')
    .where('hookId', '=', hookId)
    .where('deliveryId', '=', deliveryId)
    .executeTakeFirst();
  return found?.id ?? null;
}

/** Messages that wait or whose turn is in progress, and the bytes of all their texts in UTF-8. */
export interface WaitingMessages {
  readonly ofHook: number;
  readonly ofAccount: number;
  readonly bytesOfAccount: number;
}

/**
 * Counts waiting messages, those of the account up to `most`. Messages of an account wait for each other until they are
 * committed, so they are counted correctly.
 */
export async function waitingMessages(
  trx: Transaction,
  { id, accountId }: { readonly id: string; readonly accountId: string },
  most: number,
): Promise<WaitingMessages> {
  await sql`select pg_advisory_xact_lock(${advisoryLockClasses.hookTexts}, hashtext(${accountId}))`.execute(trx);
  const { rows } = await sql<WaitingMessages>`
    select count(*) filter (where hook_id = ${id})::int as of_hook, count(*)::int as of_account,
      coalesce(sum(octet_length(text)), 0)::float8 as bytes_of_account
    from (
      select hook_id, text from hook_messages where account_id = ${accountId} and status is null limit ${most}
    ) waiting
  `.execute(trx);
  return rows[0]!;
}

export interface NewHookMessage {
  readonly hookId: string;
  readonly agentId: string;
  readonly accountId: string;
  /** The sender's name for the delivery, or null. */
  readonly deliveryId: string | null;
  readonly event: string | null;
  /** The text for the agent, below the host's line. */
  readonly text: string;
  /** Whether the sender's JSON was too long and was cut. */
  readonly isCut: boolean;
}

/** Stores a message that waits for its agent, and returns its id. Characters that Postgres does not store are left out. */
export async function insertHookMessage(
  trx: Transaction,
  { hookId, agentId, accountId, deliveryId, event, text, isCut }: NewHookMessage,
): Promise<string> {
  const { rows } = await sql<{ readonly id: string }>`
    with made as (
      insert into hook_messages (hook_id, agent_id, account_id, delivery_id, event, text, is_cut)
      values (${hookId}, ${agentId}, ${accountId}, ${deliveryId}, ${event && storable(event)}, ${storable(text)}, ${isCut})
      returning id, seq, account_id, agent_id, received_at as due_at
    )
    ${putWork('message')} returning id
  `.execute(trx);
  await notify(trx, agentId, 'work');
  return rows[0]!.id;
}
