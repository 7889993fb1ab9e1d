/** Confirmations: what is asked, and what is decided about it. */
import type { ConfirmationDecision, ConfirmationMemory, ConfirmationStatus } from '@lodge/domain';
import { sql } from 'kysely';
import type { Insertable, Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import { notify } from '../database/notifications.ts';
import type { Confirmations } from '../database/tables.ts';
import { inMs } from '../work/leases.ts';
import { putWork } from '../work/work.ts';

export type ConfirmationRow = Selectable<Confirmations>;

export interface ConfirmationFilter {
  readonly accountId: string;
  readonly status?: ConfirmationStatus;
  readonly agentId?: string;
  /** Only those asked before the one of this number. */
  readonly before?: string;
  readonly limit: number;
}

/** Returns confirmations newest first. */
export const confirmationsOf = (
  db: Queries,
  { accountId, status, agentId, before, limit }: ConfirmationFilter,
): Promise<readonly ConfirmationRow[]> =>
  db
    .selectFrom('confirmations')
    .selectAll()
    .where('accountId', '=', accountId)
    .$if(status !== undefined, (query) => query.where('status', '=', status!))
    .$if(agentId !== undefined, (query) => query.where('agentId', '=', agentId!))
    .$if(before !== undefined, (query) => query.where('seq', '<', before!))
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();

export const findConfirmation = (db: Queries, id: string): Promise<ConfirmationRow | undefined> =>
  db.selectFrom('confirmations').selectAll().where('id', '=', id).executeTakeFirst();

/** Locks a confirmation until the transaction ends. `isOver`: its time to be decided has passed. */
export const lockConfirmation = (
  trx: Transaction,
  id: string,
): Promise<(ConfirmationRow & { readonly isOver: boolean }) | undefined> =>
  trx
    .selectFrom('confirmations')
    .selectAll()
    .select(sql<boolean>`expires_at <= clock_timestamp()`.as('isOver'))
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

/** Counts the agent's confirmations that nobody has decided, up to `most`. The caller holds the agent's lock. */
export async function countPending(trx: Transaction, agentId: string, most: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select from confirmations where agent_id = ${agentId} and status = 'pending' limit ${most}
    ) open
  `.execute(trx);
  return rows[0]!.count;
}

interface Times {
  readonly expiresInMs: number;
  /** How long a call in a turn waits; null: none does. */
  readonly waitMs: number | null;
}

export async function insertConfirmation(
  trx: Transaction,
  confirmation: Omit<Insertable<Confirmations>, 'expiresAt' | 'waitsUntil'>,
  { expiresInMs, waitMs }: Times,
): Promise<ConfirmationRow> {
  return trx
    .insertInto('confirmations')
    .values({ ...confirmation, expiresAt: inMs(expiresInMs), waitsUntil: waitMs === null ? null : inMs(waitMs) })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export interface Asked {
  readonly agentId: string;
  readonly conversation: string;
  readonly subject: string;
  readonly target: string;
}

/** The newest decision that is remembered for acts like this one in the conversation. */
export async function rememberedDecision(db: Queries, asked: Asked): Promise<ConfirmationDecision | null> {
  const found = await db
    .selectFrom('confirmations')
    .select('decision')
    .where('agentId', '=', asked.agentId)
    .where('conversation', '=', asked.conversation)
    .where('remember', '=', 'conversation')
    .where('subject', '=', asked.subject)
    .where('target', '=', asked.target)
    .orderBy('decidedAt', 'desc')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return found?.decision ?? null;
}

export interface Decided {
  readonly decision: ConfirmationDecision;
  readonly status: ConfirmationStatus;
  readonly remember: ConfirmationMemory;
  readonly wordsSealed: string | null;
}

/** Writes a decision about a confirmation that the caller has locked, and tells those who wait for it. */
export async function writeDecision(
  trx: Transaction,
  id: string,
  { decision, status, remember, wordsSealed }: Decided,
): Promise<ConfirmationRow> {
  const row = await trx
    .updateTable('confirmations')
    .set({
      decision,
      status,
      remember,
      wordsSealed,
      decidedAt: sql<Date>`clock_timestamp()`,
      ...(status !== 'allowed' && { endedAt: sql<Date>`clock_timestamp()`, callSealed: null }),
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await notify(trx, id, 'confirmation_changed');
  return row;
}

/** Puts the work that comes of a decision: at once, or when a call that waits for it in a turn should have done it itself. */
export async function putConfirmationWork(trx: Transaction, id: string, graceMs: number): Promise<void> {
  const { rows } = await sql<{ agentId: string }>`
    with made as (
      select id, seq, account_id, agent_id,
        case when waits_until > clock_timestamp() then waits_until + ${graceMs} * interval '1 millisecond'
          else clock_timestamp() end as due_at
      from confirmations where id = ${id}
    )
    ${putWork('confirmation')} returning agent_id
  `.execute(trx);
  for (const { agentId } of rows) await notify(trx, agentId, 'work');
}
