/**
 * The sums that reports read. Entries are written unsummed, in the transaction of their event. A round takes some of them
 * and, in one statement, adds them to the sums of their quarter hour, day and month, of their agent and account, and marks
 * them. (Single agents have quarters only for calls with deleted rows, because most would contain one call.) A report adds
 * up the sums and the unsummed entries, in one statement too. Each entry therefore counts once, whatever is killed and
 * however far the rounds are behind.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Database } from '../database/database.ts';
import { amounts, callAmounts, each, machineAmounts, monthEnd, rates, widths } from './usage-columns.ts';
import { advisoryLocks } from '../database/locks.ts';

/** Entries of one statement, which takes some hundred milliseconds. */
const maxAtOnce = 4_000;
/** Statements of one round. */
const maxSteps = 250;

/** Adds new usage to the sums that reports read from. Reports are the same before and after, and faster. */
export async function sumUsage(database: Database): Promise<void> {
  for (let step = 0; step < maxSteps; step += 1) if ((await sumSome(database)) < maxAtOnce) return;
}

function sumSome(database: Database): Promise<number> {
  return database.transaction(async (trx) => {
    const { rows: locks } = await sql<{ held: boolean }>`
      select pg_try_advisory_xact_lock(${advisoryLocks.usageSums}) as held
    `.execute(trx);
    if (!locks[0]!.held) return 0;
    const { rows } = await sql<{ taken: number }>`
      with taken as materialized (select * from usage_entries where not summed limit ${maxAtOnce}),
      calls as (
        update llm_calls set summed = true where id in (select id from taken where kind = 'call')
      ),
      steps as (
        update compute_steps set summed = true where id in (select id::bigint from taken where kind = 'step')
      ),
      readings as (
        update vm_readings set summed = true where id in (select id::bigint from taken where kind = 'reading')
      ),
      added as (${addSums('taken')})
      select count(*)::int as taken from taken
    `.execute(trx);
    return rows[0]!.taken;
  });
}

/** Adds the entries of a relation to their sums. */
export function addSums(entries: string): RawBuilder<unknown> {
  return sql`
    insert into usage_sums as s (
      account_id, width, agent_id, at, provider, model,
      ${each([...amounts, ...rates], (name) => name)}, ${each(rates, (name) => `${name}_ms`)}
    )
    select
      account_id, width, coalesce(agent_id, ''), starts, provider, model,
      ${each([...amounts, ...rates], (name) => `sum(${name})`)},
      ${each(rates, (name) => `sum(${name} * (extract(epoch from ends - at) * 1000))`)}
    from ${sql.raw(entries)} as entries, lateral (
      select width, starts, starts + make_interval(secs => width) as ends
      from (values (${widths.quarter}::int), (${widths.day})) as short (width),
        lateral date_bin(make_interval(secs => width), at, timestamptz 'epoch') as starts
      union all
      select ${widths.month}, starts, ${sql.raw(monthEnd('starts'))} from date_trunc('month', at, 'UTC') as starts
    ) as spans
    group by grouping sets (
      (account_id, width, starts, provider, model), (account_id, width, starts, provider, model, agent_id)
    )
    having grouping(agent_id) = 1 or width > ${widths.quarter}
    on conflict (account_id, width, agent_id, at, provider, model) do update set
      ${each([...amounts, ...rates], (name) => `${name} = s.${name} + excluded.${name}`)},
      ${each(rates, (name) => `${name}_ms = s.${name}_ms + excluded.${name}_ms`)}
  `;
}

/**
 * Adds calls whose rows are deleted in the same statement to a sum of their agent's quarter hour. Agents have such sums only
 * for deleted rows, so a report counts each call once.
 */
export function addFolded(entries: RawBuilder<unknown>): RawBuilder<unknown> {
  const zeros = each([...machineAmounts, ...rates], () => '0');
  return sql`
    insert into usage_sums as s (
      account_id, width, agent_id, at, provider, model, ${each([...callAmounts, ...machineAmounts, ...rates], (name) => name)},
      ${each(rates, (name) => `${name}_ms`)}
    )
    select account_id, ${widths.quarter}, agent_id, date_bin(make_interval(secs => ${widths.quarter}), at, timestamptz 'epoch'),
      provider, model, ${each(callAmounts, (name) => `sum(${name})`)}, ${zeros}, ${each(rates, () => '0')}
    from (${entries}) as entries
    group by 1, 3, 4, 5, 6
    on conflict (account_id, width, agent_id, at, provider, model) do update set
      ${each(callAmounts, (name) => `${name} = s.${name} + excluded.${name}`)}
  `;
}
