import assert from 'node:assert/strict';
import { link, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { emptyDatabase, testDatabase } from '@lodge/testkit/postgres';
import { readConfig } from '../../config/config.ts';
import { admitAll, event, firstAccount, newAgent } from '../../../../../packages/store/src/testing/fixture.ts';
import { agentsSection } from './agents.ts';
import { openTestStore } from '../../../../../packages/store/src/testing/agents-fixture.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const database = await testDatabase();
const folder = await mkdtemp(join(tmpdir(), 'lodge-doctor-'));
after(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});
const base = { LODGE_DATA_DIR: join(folder, 'data'), LODGE_CACHE_DIR: join(folder, 'cache') };
const config = readConfig({ ...base, DATABASE_URL: database.connectionString });
const detailOf = ({ findings }: Awaited<ReturnType<typeof agentsSection>>, name: string) =>
  findings.find((finding) => finding.name.trim() === name)?.detail;

test('a database that has no agents yet, or none at all, is no fault', async () => {
  const empty = await emptyDatabase();
  const first = readConfig({ ...base, DATABASE_URL: empty.connectionString });
  assert.match(detailOf(await agentsSection(first, log, false), 'agents')!, /^none; the database is not running/);
  await empty.drop();
  const none = await agentsSection(readConfig(base), log, false);
  assert.match(detailOf(none, 'agents')!, /^none/);
  assert.equal(detailOf(none, 'templates'), 'none');
});

test('agents have their status, and templates what they take up and how many agents need them', async () => {
  const store = await openTestStore({ ...database, log });
  const accountId = await firstAccount(store.database);
  for (let i = 0; i < 60; i += 1) {
    const id = `agent${String(i).padStart(7, '0')}`;
    await store.agents.create(newAgent(accountId, { id, name: i === 0 ? 'Ada \u001b[31m' : 'x' }), admitAll);
  }
  const first = 'agent0000000';
  await store.agents.lease(first, 'here', 60_000);
  await store.agents.observe(first, 1, 'here', { event, status: 'running', acknowledged: true, templateId: 'abc' });
  await store.agents.begin(first, 'idle', () => ({ do: 'begin', kind: 'pause' }));
  await store.close();
  const own = join(config.dataDir, 'templates', 'abc-1');
  const cached = join(config.cacheDir, 'templates', 'abc-2');
  for (const path of [own, cached]) await mkdir(path, { recursive: true });
  await writeFile(join(own, 'memory'), Buffer.alloc(3 * 2 ** 20, 1));
  await link(join(own, 'memory'), join(cached, 'memory'));
  await writeFile(join(cached, 'disk.qcow2'), Buffer.alloc(2 ** 20, 1));

  const section = await agentsSection(config, log, false);
  assert.equal(detailOf(section, 'agents'), '1 running, 59 provisioning; 0 MiB memory, 0 MiB disk, 0 MiB snapshots');
  assert.equal(detailOf(section, first), 'running (pause under way), nothing on this host  "Ada ?[31m"');
  assert.equal(detailOf(section, 'more'), '10 agents are not shown');
  assert.equal(detailOf(section, 'templates'), '1, 3 MiB');
  assert.equal(detailOf(section, 'abc-1'), '3 MiB, under 1 of these agents');
  assert.equal(
    detailOf(section, 'cached templates'),
    '1, 1 MiB',
    'what it shares with the data folder is counted once',
  );
  const all = await agentsSection(config, log, true);
  assert.equal(all.findings.filter(({ name }) => name.startsWith('agent0')).length, 60);
});
