import assert from 'node:assert/strict';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { TestContext } from 'node:test';
import { emptyDatabase, execute } from '@lodge/testkit/postgres';
import { migrate, MigrationError } from './migrate.ts';

// It keeps the server up between the tests.
const first = await emptyDatabase();
after(() => first.drop());

async function setUp(t: TestContext, files: Record<string, string> = {}) {
  const database = await emptyDatabase();
  t.after(() => database.drop());
  const folder = await mkdtemp(join(tmpdir(), 'lodge-test-migrations-'));
  t.after(() => rm(folder, { recursive: true }));
  const write = async (more: Record<string, string>) => {
    for (const [name, sql] of Object.entries(more)) await writeFile(join(folder, name), sql);
  };
  await write(files);
  const tables = async () => {
    const rows = await execute<{ name: string }>(
      database.connectionString,
      `select table_name as name from information_schema.tables where table_schema = 'public' order by 1`,
    );
    return rows.map(({ name }) => name);
  };
  return { database, folder, write, tables };
}

test("this package's migrations apply to an empty database, and repeating them does nothing", async (t) => {
  const { database, tables } = await setUp(t);
  assert.deepEqual((await migrate(database)).applied, [
    '0001_initial.sql',
    '0002_lifecycle.sql',
    '0003_accounts.sql',
    '0004_limits.sql',
    '0005_addresses_by_host.sql',
    '0006_agent_wishes.sql',
    '0007_settings.sql',
    '0008_usage.sql',
    '0009_agent_addresses.sql',
    '0010_spend.sql',
    '0011_upgrades.sql',
    '0012_usage_months.sql',
    '0013_llm_contents.sql',
    '0014_events.sql',
    '0015_one_door.sql',
    '0016_egress.sql',
    '0017_disk.sql',
    '0018_log_bytes.sql',
    '0019_channels.sql',
    '0020_unclear_parts.sql',
    '0021_channel_bounds.sql',
    '0022_webhooks.sql',
    '0023_progress.sql',
    '0024_schedules.sql',
    '0025_peers.sql',
    '0026_hooks.sql',
    '0027_connections.sql',
    '0028_hook_answers.sql',
    '0029_connection_oauth.sql',
    '0030_kept_secrets.sql',
    '0031_unverified_accounts.sql',
    '0032_connection_echoes.sql',
    '0033_consent_pages.sql',
    '0034_stored_bytes.sql',
    '0035_needed_files.sql',
    '0036_vault_sizes.sql',
    '0037_labels.sql',
    '0038_device_authorization.sql',
    '0039_oauth_grants.sql',
    '0040_open_names.sql',
    '0041_work.sql',
    '0042_skills.sql',
    '0043_packages.sql',
    '0044_variables.sql',
    '0045_choices.sql',
    '0046_oauth_of_services.sql',
    '0047_agent_skills.sql',
    '0048_confirmations.sql',
    '0049_confirmation_messages.sql',
    '0050_host_connections.sql',
    '0051_browser.sql',
    '0052_snapshots.sql',
    '0053_restores.sql',
    '0054_imports.sql',
    '0055_snapshot_storage.sql',
    '0056_snapshot_contents.sql',
  ]);
  assert.deepEqual((await migrate(database)).applied, []);
  assert.deepEqual(await tables(), [
    'account_links',
    'accounts',
    'agent_holds',
    'agent_log_heads',
    'agent_log_positions',
    'agent_logs',
    'agent_ports',
    'agent_skills',
    'agent_visits',
    'agents',
    'api_keys',
    'attempts',
    'authorities',
    'channel_answers',
    'channel_conversations',
    'channel_credentials',
    'channel_files',
    'channel_messages',
    'channel_oauth_sessions',
    'channel_parts',
    'channel_seen',
    'channel_senders',
    'channel_vault',
    'channels',
    'compute_prices',
    'compute_rates',
    'compute_steps',
    'confirmation_messages',
    'confirmations',
    'connection_headers',
    'connection_oauth',
    'connection_secrets',
    'connections',
    'data_keys',
    'events',
    'hook_messages',
    'hooks',
    'idempotency_keys',
    'known_addresses',
    'llm_call_contents',
    'llm_calls',
    'llm_calls_open',
    'llm_keys',
    'oauth_clients',
    'oauth_codes',
    'oauth_devices',
    'oauth_grants',
    'rate_buckets',
    'rate_places',
    'recovery_codes',
    'schedule_runs',
    'schedules',
    'schema_migrations',
    'sessions',
    'skill_pieces',
    'skill_versions',
    'skills',
    'snapshots',
    'spend_windows',
    'stored_bytes',
    'usage_entries',
    'usage_sums',
    'vm_counters',
    'vm_readings',
    'webhook_deliveries',
    'webhooks',
    'work',
  ]);
});

test('processes that migrate at once apply each migration once', async (t) => {
  const { database, folder } = await setUp(t, {
    '0001_a.sql': 'create table a (n integer); select pg_sleep(0.3);',
    '0002_b.sql': 'insert into a values (1);',
  });
  const runs = await Promise.all([1, 2, 3, 4].map(() => migrate(database, folder)));
  assert.deepEqual(runs.flatMap(({ applied }) => applied).sort(), ['0001_a.sql', '0002_b.sql']);
  assert.deepEqual(await execute(database.connectionString, 'select n from a'), [{ n: 1 }]);
});

test('later migrations are applied to what is there', async (t) => {
  const { database, folder, write, tables } = await setUp(t, { '0001_a.sql': 'create table a ();' });
  await migrate(database, folder);
  await write({ '0002_b.sql': 'create table b ();' });
  assert.deepEqual((await migrate(database, folder)).applied, ['0002_b.sql']);
  assert.deepEqual(await tables(), ['a', 'b', 'schema_migrations']);
});

test('a migration that fails leaves nothing of itself, keeps those before it, and is applied once it is mended', async (t) => {
  const { database, folder, write, tables } = await setUp(t, {
    '0001_a.sql': 'create table a ();',
    '0002_b.sql': 'create table b (); select 1 / 0;',
  });
  await assert.rejects(migrate(database, folder), (error: Error) => {
    assert.ok(error instanceof MigrationError);
    assert.match(error.message, /0002_b\.sql failed: division by zero/);
    return true;
  });
  assert.deepEqual(await tables(), ['a', 'schema_migrations']);
  await write({ '0002_b.sql': 'create table b ();' });
  assert.deepEqual((await migrate(database, folder)).applied, ['0002_b.sql']);
});

test('a migration that cannot be recorded is not applied', async (t) => {
  const { database, folder, tables } = await setUp(t, {
    '0001_a.sql': 'create table a ();',
    '0002_b.sql': 'create table b (); drop table schema_migrations;',
  });
  await assert.rejects(migrate(database, folder), /0002_b\.sql failed/);
  assert.deepEqual(await tables(), ['a', 'schema_migrations']);
});

test('a migration changed after it was applied is refused, and none after it is applied', async (t) => {
  const { database, folder, write, tables } = await setUp(t, { '0001_a.sql': 'create table a ();' });
  await migrate(database, folder);
  await write({ '0001_a.sql': 'create table a (); -- changed', '0002_b.sql': 'create table b ();' });
  await assert.rejects(migrate(database, folder), /migrated by 0001_a\.sql, .* not the same file/);
  assert.deepEqual(await tables(), ['a', 'schema_migrations']);
});

test('a database that a newer release migrated is refused', async (t) => {
  const { database, folder } = await setUp(t, { '0001_a.sql': '', '0002_b.sql': '' });
  await migrate(database, folder);
  await rm(join(folder, '0002_b.sql'));
  await assert.rejects(migrate(database, folder), /0002_b\.sql, which this release does not know/);
});

test('migrations out of number are refused before anything is applied', async (t) => {
  const { database, folder, tables } = await setUp(t, { '0001_a.sql': 'create table a ();', '0003_c.sql': '' });
  await assert.rejects(migrate(database, folder), /0003_c\.sql: migrations are NNNN_name\.sql/);
  assert.deepEqual(await tables(), []);
});

test('the audit log goes into the events with its ids, and goes on behind them', async (t) => {
  const { database, folder, write } = await setUp(t);
  const own = join(import.meta.dirname, 'migrations');
  const files = (await readdir(own)).toSorted();
  const until = files.indexOf('0014_events.sql');
  const copy = async (names: readonly string[]) => {
    for (const name of names) await write({ [name]: await readFile(join(own, name), 'utf8') });
  };
  await copy(files.slice(0, until));
  await migrate(database, folder);
  await execute(
    database.connectionString,
    `insert into accounts (id, name) values ('a', 'a');
     insert into audit_events (account_id, actor_kind, actor_id, action, target_kind, target_id, address, request_id, at, details)
     values ('a', 'api_key', 'k', 'agent.updated', 'agent', 'x', '192.0.2.1', 'r', now(), '{"fields":["name"]}'),
       ('a', 'operator', null, 'link.created', 'link', 'l', null, null, now(), '{}'),
       ('a', 'account', 'a', 'totp.begun', null, null, null, null, now(), '{}')`,
  );
  await copy(files.slice(until));
  await migrate(database, folder);
  await execute(
    database.connectionString,
    `insert into events (account_id, type, level, data, created_at) values ('a', 'account.created', 1, '{}', now())`,
  );
  assert.deepEqual(
    await execute(
      database.connectionString,
      'select id::int, agent_id, type, actor_kind, target_kind, target_id, data from events order by id',
    ),
    [
      [1, 'x', 'agent.updated', 'api_key', null, null, { fields: ['name'] }],
      [2, null, 'link.created', 'operator', 'link', 'l', {}],
      [3, null, 'totp.begun', 'account', null, null, {}],
      [4, null, 'account.created', null, null, null, {}],
    ].map(([id, agent_id, type, actor_kind, target_kind, target_id, data]) => ({
      id,
      agent_id,
      type,
      actor_kind,
      target_kind,
      target_id,
      data,
    })),
  );
});

test('agents of an earlier release may reach and call what they could, and their machines need nothing', async (t) => {
  const { database, folder, write } = await setUp(t);
  const own = join(import.meta.dirname, 'migrations');
  const files = (await readdir(own)).toSorted();
  const copy = async (names: readonly string[]) => {
    for (const name of names) await write({ [name]: await readFile(join(own, name), 'utf8') });
  };
  const until = files.indexOf('0016_egress.sql');
  await copy(files.slice(0, until));
  await migrate(database, folder);
  const agents = `insert into agents (id, account_id, name, runtime_kind, model, size, idle_timeout_seconds, stop_after_seconds,
    keep_awake, auto_resume, auto_start, wake_on_message, metadata, created_at, updated_at`;
  const values = `'n', 'runtime_a', 'm', 'small', 1, 1, 'auto', true, true, true, '{}', now(), now()`;
  await execute(
    database.connectionString,
    `insert into accounts (id, name) values ('a', 'a'); ${agents}) values ('agent0000001', 'a', ${values})`,
  );
  await copy(files.slice(until));
  await migrate(database, folder);
  assert.deepEqual(
    await execute(database.connectionString, 'select egress, egress_version, egress_applied, models from agents'),
    [{ egress: { mode: 'public', allow: [] }, egress_version: 1, egress_applied: 1, models: null }],
  );
  for (const egress of ['{}', '{"mode": "all", "allow": []}', '{"mode": "none"}', '[]', 'null']) {
    const insert = `${agents}, egress) values ('agent0000002', 'a', ${values}, '${egress}')`;
    await assert.rejects(execute(database.connectionString, insert), { code: '23514' }, egress);
  }
});

test('a conversation of an earlier release knows who was let in last, by the messages that are kept', async (t) => {
  const { database, folder, write } = await setUp(t);
  const own = join(import.meta.dirname, 'migrations');
  const files = (await readdir(own)).toSorted();
  const copy = async (names: readonly string[]) => {
    for (const name of names) await write({ [name]: await readFile(join(own, name), 'utf8') });
  };
  const until = files.indexOf('0024_schedules.sql');
  await copy(files.slice(0, until));
  await migrate(database, folder);
  const message = (id: string, conversation: string, sender: string, state: string) =>
    `insert into channel_messages (id, agent_id, channel, account_id, conversation, sender_id, sender_name, text, state, sent_at)
     values ('${id}', 'agent0000001', 'telegram', 'a', '${conversation}', '${sender}', 'n', 't', '${state}', now())`;
  const conversation = (id: string) =>
    `insert into channel_conversations (id, agent_id, channel, account_id, conversation_id, kind)
     values ('${id}', 'agent0000001', 'telegram', 'a', '${id}', 'direct')`;
  const statements = [
    `insert into accounts (id, name) values ('a', 'a')`,
    `insert into agents (id, account_id, name, runtime_kind, model, size, idle_timeout_seconds, stop_after_seconds, keep_awake,
       auto_resume, auto_start, wake_on_message, metadata, created_at, updated_at)
     values ('agent0000001', 'a', 'n', 'runtime_a', 'm', 'small', 1, 1, 'auto', true, true, true, '{}', now(), now())`,
    `insert into channels (agent_id, channel, account_id, enabled, access, status)
     values ('agent0000001', 'telegram', 'a', true, '{}', 'connected')`,
    ...['c1', 'c2'].map(conversation),
    message('m1', 'c1', 'u1', 'answered'),
    message('m2', 'c1', 'u2', 'answered'),
    message('m3', 'c1', 'u3', 'refused'),
    message('m4', 'c2', 'u4', 'refused'),
  ];
  for (const statement of statements) await execute(database.connectionString, statement);
  await copy(files.slice(until));
  await migrate(database, folder);
  assert.deepEqual(
    await execute(database.connectionString, 'select id, sender_id from channel_conversations order by id'),
    [
      { id: 'c1', sender_id: 'u2' },
      { id: 'c2', sender_id: null },
    ],
  );
});

test('secrets of webhooks that earlier releases kept with a reply are gone, and their requests stay carried out', async (t) => {
  const { database, folder, write } = await setUp(t);
  const own = join(import.meta.dirname, 'migrations');
  const files = (await readdir(own)).toSorted();
  const copy = async (names: readonly string[]) => {
    for (const name of names) await write({ [name]: await readFile(join(own, name), 'utf8') });
  };
  const until = files.indexOf('0030_kept_secrets.sql');
  await copy(files.slice(0, until));
  await migrate(database, folder);
  const row = (key: string, body: string) =>
    `('a', '${key}', sha256('x'), 'i', gen_random_uuid(), now(), now(), now(), 201, '{}', '${body}')`;
  await execute(
    database.connectionString,
    `insert into accounts (id, name) values ('a', 'a');
     insert into idempotency_keys (account_id, key, fingerprint, agent_id, attempt, lease_until, created_at, done_at, status, headers, body)
     values ${row('agent', '{"object":"agent"}')}, ${row('webhook', '{"id":"w","secret":"whsec_c2VjcmV0"}')}`,
  );
  await copy(files.slice(until));
  await migrate(database, folder);
  const kept = `select key, status, body, done_at is not null as done from idempotency_keys order by key`;
  assert.deepEqual(await execute(database.connectionString, kept), [
    { key: 'agent', status: 201, body: '{"object":"agent"}', done: true },
    { key: 'webhook', status: null, body: null, done: true },
  ]);
  const counted = `select account_id, kind, agent_id, items::int, bytes::int from stored_bytes`;
  assert.deepEqual(await execute(database.connectionString, counted), [
    { account_id: 'a', kind: 'replies', agent_id: '', items: 2, bytes: '{"object":"agent"}'.length },
  ]);
});
