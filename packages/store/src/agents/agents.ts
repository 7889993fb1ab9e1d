import { agentIdPattern } from '@lodge/domain';
import { ChannelConflictError } from '@lodge/ports';
import type { ChangeNote, NewChannel } from '@lodge/ports';
import { sql } from 'kysely';
import type { Insertable } from 'kysely';
import { readCommitted } from './agent-capacity.ts';
import { insertKeys } from './agent-decisions.ts';
import { agentColumns, now } from './agent-row.ts';
import type { AgentRow } from './agent-row.ts';
import type { Committed, NewAgent } from './facts.ts';
import { selectAgent } from './selecting.ts';
import { putChannel } from '../channels/channels.ts';
import { isUniqueViolation } from '../channels/states.ts';
import { writeNote } from '../events/change-note.ts';
import type { Database, Transaction } from '../database/database.ts';
import { advisoryLocks } from '../database/locks.ts';
import type { Agents } from '../database/tables.ts';

/** Puts a channel. Throws a `ChannelConflictError`; nothing of the transaction is written then. */
async function putChannelOf(trx: Transaction, agent: NewAgent, channel: NewChannel): Promise<void> {
  try {
    await putChannel(trx, { accountId: agent.accountId, agentId: agent.id, ...channel }, undefined);
  } catch (error) {
    throw isUniqueViolation(error) ? new ChannelConflictError(channel.channel) : error;
  }
}

/**
 * Creates an agent in one transaction. `admit` sees the committed agents and throws to refuse; then nothing is written.
 * The new agent has desired `running` and status `provisioning`. Rejects with a `ChannelConflictError`.
 */
export function createAgent(
  database: Database,
  agent: NewAgent,
  admit: (committed: Committed) => void,
  note?: ChangeNote,
): Promise<AgentRow> {
  return database.once((db) =>
    db.transaction().execute(async (trx) => {
      // The lock is released when the commit becomes visible, so the next create counts this agent.
      await sql`select pg_advisory_xact_lock(${advisoryLocks.createAgent})`.execute(trx);
      admit(await readCommitted(trx, agent.accountId));
      await insertAgent(trx, agent);
      const own = { type: 'agent.created', data: { name: agent.name } } as const;
      await writeNote(trx, { accountId: agent.accountId, agentId: agent.id }, own, note);
      for (const channel of agent.channels ?? []) await putChannelOf(trx, agent, channel);
      return (await selectAgent(trx, agent.id))!;
    }),
  );
}

/** Sets desired `deleted` and a new generation. Null when the account has no such agent. Repeating it changes nothing. */
export async function markDeleted(
  database: Database,
  accountId: string,
  id: string,
  note?: ChangeNote,
): Promise<AgentRow | null> {
  if (!agentIdPattern.test(id)) return null;
  return database.transaction(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('agents')
      .set((eb) => ({ desired: 'deleted', generation: eb('generation', '+', 1), updatedAt: now }))
      .where('id', '=', id)
      .where('accountId', '=', accountId)
      .where('desired', '<>', 'deleted')
      .executeTakeFirst();
    const row = await selectAgent(trx, id);
    if (numUpdatedRows === 1n) {
      await writeNote(trx, { accountId, agentId: id }, { type: 'agent.deleted', data: {} }, note);
    }
    return row?.accountId === accountId ? row : null;
  });
}

async function insertAgent(trx: Transaction, agent: NewAgent): Promise<void> {
  // The time is later than the account's latest, even when the clock was set back, so pages read before stay as they were.
  const createdAt = sql<Date>`(
    select greatest(clock_timestamp(), max(created_at) + interval '1 millisecond')
    from agents where account_id = ${agent.accountId} and deleted_at is null
  )`;
  const { llmKeys, channels: _, ...fields } = agent;
  await trx
    .insertInto('agents')
    .values({ ...(agentColumns(fields) as Insertable<Agents>), createdAt, updatedAt: now })
    .execute();
  await insertKeys(trx, agent.id, llmKeys);
}
