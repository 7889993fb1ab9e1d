/** Cost and resources of machines. A trigger maintains their rates, in the transaction of each change. */
import type { ComputePrices, VmReading } from '@lodge/ports';
import { sql } from 'kysely';
import type { Database } from '../database/connection.ts';

/** Agents of one statement. */
const agentsAtOnce = 500;
/** Less CPU time than this waits for the next reading, because an idle gateway is no reason for a row. */
const leastCpuMs = 1_000;

/**
 * Sets the prices. Agents whose price has changed get the step to it, some at a time. After an interruption the next call
 * does the others.
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
    if (ids.length === 0) return;
    after = ids.at(-1)!;
  }
}

/**
 * Records a reading. The agent's row names the counted execution, so a late reading of an earlier one adds nothing. All
 * counters of an execution without an earlier reading are new.
 */
export async function recordReading(database: Database, reading: VmReading): Promise<void> {
  const { agentId, executionId, egressBytes } = reading;
  const cpuMs = Math.round(reading.cpuSeconds * 1000);
  await database.transaction(async (trx) => {
    await sql`
      insert into vm_counters (agent_id, execution_id, cpu_ms, egress_bytes)
      select id, execution_id, 0, 0 from agents where id = ${agentId} and execution_id = ${executionId}
      on conflict do nothing
    `.execute(trx);
    const before = await trx
      .selectFrom('vm_counters')
      .selectAll()
      .where('agent_id', '=', agentId)
      .forUpdate()
      .executeTakeFirst();
    if (before === undefined) return;
    const agent = await trx
      .selectFrom('agents')
      .select('account_id')
      .where('id', '=', agentId)
      .where('execution_id', '=', executionId)
      .executeTakeFirst();
    if (agent === undefined) return;
    const isNew = before.execution_id !== executionId;
    const cpu = cpuMs - (isNew ? 0 : Number(before.cpu_ms));
    const egress = egressBytes - (isNew ? 0 : Number(before.egress_bytes));
    if (cpu < leastCpuMs && egress <= 0) return;
    await trx
      .updateTable('vm_counters')
      .set({
        execution_id: executionId,
        cpu_ms: isNew ? cpuMs : sql`greatest(cpu_ms, ${cpuMs})`,
        egress_bytes: isNew ? egressBytes : sql`greatest(egress_bytes, ${egressBytes})`,
      })
      .where('agent_id', '=', agentId)
      .execute();
    await trx
      .insertInto('vm_readings')
      .values({
        agent_id: agentId,
        account_id: agent.account_id,
        at: sql<Date>`clock_timestamp()`,
        cpu_ms: Math.max(0, cpu),
        egress_bytes: Math.max(0, egress),
      })
      .execute();
  });
}
