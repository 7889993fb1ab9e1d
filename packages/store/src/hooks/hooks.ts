/** Hooks. All that read leave out those of agents that are being deleted. */
import type { Insertable, Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { Hooks } from '../database/tables.ts';

export type HookRow = Selectable<Hooks>;

export interface HookPlace {
  readonly accountId: string;
  readonly agentId: string;
  readonly hookId: string;
}

const live = (db: Queries) =>
  db
    .selectFrom('hooks')
    .selectAll('hooks')
    .where((eb) =>
      eb.exists(
        eb.selectFrom('agents').whereRef('agents.id', '=', 'hooks.agentId').where('agents.desired', '=', 'running'),
      ),
    );

/** Returns the agent's hooks, oldest first. */
export const hooksOf = (db: Queries, accountId: string, agentId: string): Promise<readonly HookRow[]> =>
  live(db).where('hooks.agentId', '=', agentId).where('hooks.accountId', '=', accountId).orderBy('hooks.seq').execute();

export const findHook = (db: Queries, { accountId, agentId, hookId }: HookPlace): Promise<HookRow | undefined> =>
  live(db)
    .where('hooks.id', '=', hookId)
    .where('hooks.agentId', '=', agentId)
    .where('hooks.accountId', '=', accountId)
    .executeTakeFirst();

/** `hash` is the SHA-256 of the hook's token, which is stored nowhere. */
export const hookByToken = (db: Queries, hash: Uint8Array): Promise<HookRow | undefined> =>
  live(db).where('hooks.tokenHash', '=', hash).executeTakeFirst();

/** Locks the hook until the transaction ends. */
export const lockHook = (trx: Transaction, id: string): Promise<HookRow | undefined> =>
  live(trx).where('hooks.id', '=', id).forNoKeyUpdate('hooks').executeTakeFirst();

export async function countHooks(trx: Transaction, agentId: string): Promise<number> {
  const { n } = await trx
    .selectFrom('hooks')
    .select((eb) => eb.fn.countAll<string>().as('n'))
    .where('agentId', '=', agentId)
    .executeTakeFirstOrThrow();
  return Number(n);
}

export const insertHook = (trx: Transaction, hook: Insertable<Hooks>): Promise<HookRow> =>
  trx.insertInto('hooks').values(hook).returningAll().executeTakeFirstOrThrow();

/** Deletes the hook with its messages, and returns it. */
export const deleteHook = (trx: Transaction, { accountId, agentId, hookId }: HookPlace): Promise<HookRow | undefined> =>
  trx
    .deleteFrom('hooks')
    .where('id', '=', hookId)
    .where('agentId', '=', agentId)
    .where('accountId', '=', accountId)
    .returningAll()
    .executeTakeFirst();
