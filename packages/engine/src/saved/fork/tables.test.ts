/** Every table that names agents is decided about: a fork has copies of its rows, or none. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { ForkInclude } from '@lodge/domain';
import { openParent } from '../testing.ts';

const { parent, sql, fork, close } = await openParent();
after(close);

/** Rows of every table, by the agent that they name. */
async function countsOf(ids: readonly string[]): Promise<Map<string, number>> {
  const tables = await sql<{ name: string }>(`
    select table_name as name from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = 'public' and column_name = 'agent_id' and table_type = 'BASE TABLE' order by 1`);
  const counts = new Map<string, number>();
  for (const { name } of tables) {
    const [row] = await sql<{ n: number }>(
      `select count(*)::int as n from ${name} where agent_id in (${ids.map((id) => `'${id}'`).join()})`,
    );
    counts.set(name, row!.n);
  }
  return counts;
}

/**
 * The decision about the rows of each table that name the parent. `always`: forks have copies. `never`: they have none. `own`: they
 * have rows of their own, which Lodge writes of each agent. Else: copies, where the request includes them.
 */
const decided: Readonly<Record<string, 'always' | 'never' | 'own' | ForkInclude>> = {
  llm_keys: 'always',
  agent_skills: 'always',
  schedules: 'schedules',
  connections: 'connections',
  connection_headers: 'connections',
  connection_oauth: 'connections',
  connection_secrets: 'connections',
  agent_ports: 'ports',
  agent_holds: 'own',
  agent_log_heads: 'own',
  agent_log_positions: 'own',
  agent_logs: 'own',
  agent_visits: 'never',
  channel_conversations: 'never',
  channel_credentials: 'never',
  channel_files: 'never',
  channel_messages: 'never',
  channel_oauth_sessions: 'never',
  channel_parts: 'never',
  channel_seen: 'never',
  channel_senders: 'never',
  channel_vault: 'never',
  channels: 'never',
  compute_rates: 'own',
  compute_steps: 'own',
  confirmation_messages: 'never',
  confirmations: 'never',
  events: 'own',
  hook_messages: 'never',
  hooks: 'never',
  idempotency_keys: 'never',
  llm_call_contents: 'never',
  llm_calls: 'never',
  llm_calls_open: 'never',
  schedule_runs: 'never',
  snapshots: 'never',
  stored_bytes: 'never',
  usage_sums: 'own',
  vm_counters: 'own',
  vm_readings: 'own',
  webhook_deliveries: 'never',
  work: 'never',
};

/** A row in each of these tables that names the agent, whatever else it says. */
async function fill(tables: readonly string[], agentId: string): Promise<void> {
  const columns = await sql<{ name: string; column: string; type: string }>(`
    select table_name as name, column_name as column, data_type as type from information_schema.columns
    where table_schema = 'public' and is_nullable = 'NO' and column_default is null and is_identity = 'NO'
      and is_generated = 'NEVER' and column_name <> 'agent_id'`);
  const values: Readonly<Record<string, string>> = {
    boolean: 'false',
    bytea: `'x'`,
    uuid: 'gen_random_uuid()',
    jsonb: `'{}'`,
    ARRAY: `'{}'`,
    'timestamp with time zone': `'2026-01-01'`,
  };
  const statements = tables.map((table) => {
    const own = columns.filter(({ name }) => name === table);
    const names = own.map(({ column }) => `"${column}"`);
    const given = own.map(({ column, type }) => values[type] ?? (type === 'text' ? `'${column}-${agentId}'` : '1'));
    return `insert into ${table} (${['agent_id', ...names].join()}) values (${[`'${agentId}'`, ...given].join()});`;
  });
  const checks = await sql<{ text: string }>(`
    select format('alter table %s drop constraint %I;', conrelid::regclass, conname) as text from pg_constraint
    where contype in ('c', 'f') and conrelid::regclass::text in (${tables.map((table) => `'${table}'`).join()})`);
  await sql(`begin; ${checks.map(({ text }) => text).join(' ')}
    set local session_replication_role = replica; ${statements.join(' ')} commit;`);
}

test('every table that names agents is decided about, and a fork has copies of nothing else', async () => {
  const here = await countsOf([parent.id]);
  const tables = [...here.keys()];
  assert.deepEqual(
    tables,
    Object.keys(decided).sort(),
    'a new table needs a line here, and maybe one in fork-copies.ts',
  );
  const empty = [...here].filter(([table, n]) => n === 0 && decided[table] === 'never').map(([table]) => table);
  await fill(empty, parent.id);
  const ofParent = await countsOf([parent.id]);
  for (const [table, n] of ofParent) if (decided[table] !== 'own') assert.ok(n > 0, `the parent has a row in ${table}`);
  const [bare] = await fork();
  const [full] = await fork({ include: ['schedules', 'connections', 'ports'] });
  const [ofBare, ofFull] = [await countsOf([bare!.id]), await countsOf([full!.id])];
  for (const [table, decision] of Object.entries(decided)) {
    if (decision === 'own') continue;
    const there = ofParent.get(table)!;
    assert.equal(ofBare.get(table), decision === 'always' ? there : 0, `${table} of a fork`);
    assert.equal(ofFull.get(table), decision === 'never' ? 0 : there, `${table} of a fork with all`);
  }
});
