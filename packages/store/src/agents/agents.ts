/** The writes of a create. */
import { ChannelConflictError } from '@lodge/ports';
import { sql } from 'kysely';
import type { Insertable } from 'kysely';
import { insertKeys } from './agent-decisions.ts';
import { agentColumns, now } from './agent-row.ts';
import type { NewAgent } from './facts.ts';
import { putChannel } from '../channels/channels.ts';
import { isUniqueViolation } from '../channels/states.ts';
import type { Transaction } from '../database/database.ts';
import { advisoryLocks } from '../database/locks.ts';
import type { Agents } from '../database/tables.ts';

/** Holds other creates back until the commit is visible, so the next one counts this agent. */
export async function holdCreates(trx: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.createAgent})`.execute(trx);
}

/** Puts the channels of a new agent. Throws a `ChannelConflictError`; nothing of the transaction is written then. */
export async function insertChannels(trx: Transaction, { accountId, id, channels = [] }: NewAgent): Promise<void> {
  for (const channel of channels) {
    try {
      await putChannel(trx, { accountId, agentId: id, ...channel }, undefined);
    } catch (error) {
      throw isUniqueViolation(error) ? new ChannelConflictError(channel.channel) : error;
    }
  }
}

export async function insertAgent(trx: Transaction, agent: NewAgent): Promise<void> {
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
