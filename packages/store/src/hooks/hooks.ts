import type {
  ActorNote,
  HookMessage,
  HookPlace,
  HookRow,
  HookStore,
  HookWaitBounds,
  NewHook,
  NewHookMessage,
} from '@lodge/ports';
import { sql } from 'kysely';
import { lockAgent } from '../agents/agent-decisions.ts';
import { whyUndeliverable } from '../channels/deliver.ts';
import { storable } from '../channels/text.ts';
import type { Database } from '../database/connection.ts';
import { writeNote } from '../events/change-note.ts';
import { notify } from '../database/notifications.ts';
import { receiveMessage } from './receive.ts';
import { isPlace, selectHooks, selectMessages, toColumns } from './rows.ts';

/** `HookStore` in Postgres. */
export class PostgresHookStore implements HookStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  list(accountId: string, agentId: string): Promise<readonly HookRow[]> {
    return this.database.repeatable((db) =>
      selectHooks(db, sql`h.agent_id = ${agentId} and h.account_id = ${accountId}`),
    );
  }

  async find(place: HookPlace): Promise<HookRow | null> {
    return (await this.database.repeatable((db) => selectHooks(db, isPlace(place))))[0] ?? null;
  }

  async findByToken(tokenHash: Uint8Array): Promise<HookRow | null> {
    return (await this.database.repeatable((db) => selectHooks(db, sql`h.token_hash = ${tokenHash}`)))[0] ?? null;
  }

  create(place: HookPlace, hook: NewHook, most: number, note?: ActorNote): ReturnType<HookStore['create']> {
    const { accountId, agentId, hookId: id } = place;
    return this.database.transaction(async (trx) => {
      // The lock serialises creates, so they are counted correctly.
      if ((await lockAgent(trx, agentId))?.account_id !== accountId) return 'no_agent';
      const { rows } = await sql<{ n: number }>`
        select count(*)::int as n from hooks where agent_id = ${agentId}
      `.execute(trx);
      if (rows[0]!.n >= most) return 'full';
      const unsayable = await whyUndeliverable(trx, place, hook.deliver);
      if (unsayable !== null) return unsayable;
      const values = { id, agent_id: agentId, account_id: accountId, ...toColumns(hook) };
      await trx.insertInto('hooks').values(values).execute();
      const [made] = await selectHooks(trx, isPlace(place));
      // The agent is being deleted.
      if (made === undefined) return 'no_agent';
      await writeNote(trx, place, { type: 'hook.created', data: { hook_id: id, name: hook.name } }, note);
      return made;
    });
  }

  remove(place: HookPlace, note?: ActorNote): Promise<boolean> {
    return this.database.transaction(async (trx) => {
      const { rows } = await sql<{ id: string; name: string }>`
        delete from hooks h where ${isPlace(place)} returning h.id, h.name
      `.execute(trx);
      const [gone] = rows;
      if (gone === undefined) return false;
      await notify(trx, place.agentId, 'hook_work');
      await writeNote(trx, place, { type: 'hook.removed', data: { hook_id: gone.id, name: gone.name } }, note);
      return true;
    });
  }

  receive(hookId: string, message: NewHookMessage, bounds: HookWaitBounds): ReturnType<HookStore['receive']> {
    return this.database.transaction((trx) => receiveMessage(trx, hookId, message, bounds));
  }

  messages(
    { hookId, agentId, accountId }: HookPlace,
    { before, limit }: { readonly before?: string; readonly limit: number },
  ): Promise<readonly HookMessage[]> {
    const of = sql`m.hook_id = ${storable(hookId)} and m.agent_id = ${agentId} and m.account_id = ${accountId}`;
    const from =
      before === undefined
        ? sql``
        : sql`and m.seq < (select b.seq from hook_messages b where b.id = ${before} and b.hook_id = m.hook_id)`;
    return this.database.repeatable((db) => selectMessages(db, sql`${of} ${from} order by m.seq desc limit ${limit}`));
  }
}
