/** Cost and resources of machines. A trigger maintains their rates, in the transaction of each change. */
import type { ComputePrices, VmReading } from '@lodge/ports';
import { sql } from 'kysely';
import type { Database, Transaction } from '../database/database.ts';

/** Agents of one statement. */
const agentsAtOnce = 500;
/** Less CPU time than this waits for the next reading, because an idle gateway is no reason for a row. */
const leastCpuMs = 1_000;

/**
 * Sets the prices of machines from now on; earlier usage keeps its price. Agents whose price has changed get the step to it,
 * some at a time, each time in a transaction. After an interruption the next call does the others.
 */
export async function setComputePrices(database: Database, prices: ComputePrices): Promise<void> {
  await database.transaction(async (trx) => {
    for (const [size, { running, paused, storage }] of Object.entries(prices)) {
      await sql`
        insert into compute_prices as p (size, running_usd, paused_usd, storage_usd)
        values (${size}, ${running}, ${paused}, ${storage})
        on conflict (size) do update set running_usd = excluded.running_usd, paused_usd = excluded.paused_usd,
          storage_usd = excluded.storage_usd
        where (p.running_usd, p.paused_usd, p.storage_usd)
          is distinct from (excluded.running_usd, excluded.paused_usd, excluded.storage_usd)
      `.execute(trx);
    }
  });
  for (let after = ''; ;) {
    const from = after;
    const ids = await database.transaction(async (trx) => {
      const { rows } = await sql<{ id: string }>`
        select id from agents where deleted_at is null and id > ${from} order by id limit ${agentsAtOnce} for no key update
      `.execute(trx);
      const locked = rows.map(({ id }) => id);
      // A separate statement sees everything that was committed while it waited for the locks.
      await sql`select note_compute(a) from agents a where id = any(${locked})`.execute(trx);
      return locked;
    });
    if (ids.length === 0) break;
    after = ids.at(-1)!;
  }
  await priceSnapshots(database);
}

/** Brings the prices of snapshots to those of their sizes. */
async function priceSnapshots(database: Database): Promise<void> {
  for (let after = ''; ;) {
    const from = after;
    const ids = await database.transaction(async (trx) => {
      const { rows } = await sql<{ id: string }>`
        select agent_id as id, note_snapshots(agent_id, account_id) from (
          select distinct agent_id, account_id from snapshots
          where held_bytes > 0 and agent_id > ${from} order by agent_id limit ${agentsAtOnce}
        ) as each order by agent_id
      `.execute(trx);
      return rows.map(({ id }) => id);
    });
    if (ids.length === 0) return;
    after = ids.at(-1)!;
  }
}

/**
 * Adds the increase of the counters since the last reading, once. The agent's row names the counted execution, so a late
 * reading of an earlier one adds nothing. All counters of an execution without an earlier reading are new.
 */
export async function recordReading(trx: Transaction, reading: VmReading): Promise<void> {
  const { agentId, executionId, egressBytes } = reading;
  const cpuMs = Math.round(reading.cpuSeconds * 1000);
  await sql`
    insert into vm_counters (agent_id, execution_id, cpu_ms, egress_bytes)
    select id, execution_id, 0, 0 from agents where id = ${agentId} and execution_id = ${executionId}
    on conflict do nothing
  `.execute(trx);
  const before = await trx
    .selectFrom('vmCounters')
    .selectAll()
    .where('agentId', '=', agentId)
    .forUpdate()
    .executeTakeFirst();
  if (before === undefined) return;
  const agent = await trx
    .selectFrom('agents')
    .select('accountId')
    .where('id', '=', agentId)
    .where('executionId', '=', executionId)
    .executeTakeFirst();
  if (agent === undefined) return;
  const isNew = before.executionId !== executionId;
  const cpu = cpuMs - (isNew ? 0 : Number(before.cpuMs));
  const egress = egressBytes - (isNew ? 0 : Number(before.egressBytes));
  if (cpu < leastCpuMs && egress <= 0) return;
  await trx
    .updateTable('vmCounters')
    .set({
      executionId,
      cpuMs: isNew ? cpuMs : sql`greatest(cpu_ms, ${cpuMs})`,
      egressBytes: isNew ? egressBytes : sql`greatest(egress_bytes, ${egressBytes})`,
    })
    .where('agentId', '=', agentId)
    .execute();
  await trx
    .insertInto('vmReadings')
    .values({
      agentId,
      accountId: agent.accountId,
      at: sql<Date>`clock_timestamp()`,
      cpuMs: Math.max(0, cpu),
      egressBytes: Math.max(0, egress),
    })
    .execute();
}
