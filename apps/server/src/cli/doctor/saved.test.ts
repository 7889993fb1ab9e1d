import assert from 'node:assert/strict';
import { link, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { insertSnapshot } from '@lodge/store/snapshots';
import { testDatabase } from '@lodge/testkit/postgres';
import { openTestStore } from '../../../../../packages/store/src/testing/agents-fixture.ts';
import { firstAccount, silent as log } from '../../../../../packages/store/src/testing/fixture.ts';
import { readConfig } from '../../config/config.ts';
import { holderName } from '../take-down.ts';
import { savedSection } from './saved.ts';

const database = await testDatabase();
const folder = await mkdtemp(join(tmpdir(), 'lodge-doctor-'));
after(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});
const base = { LODGE_DATA_DIR: join(folder, 'data'), LODGE_CACHE_DIR: join(folder, 'cache') };
const config = readConfig({ ...base, DATABASE_URL: database.connectionString });
const seen = async (of = config) =>
  (await savedSection(of, log)).findings.map(({ name, state, detail }) => [name, state, detail]);

test('saved machines have their number and disk, and those that are wrong are named', async () => {
  assert.deepEqual(await seen(), [['saved machines', 'ok', 'none']]);
  const store = await openTestStore({ ...database, log });
  const accountId = await firstAccount(store.database);
  const rows = {
    saaaaaaaaaa1: { status: 'ready' },
    saaaaaaaaaa2: { status: 'ready' },
    saaaaaaaaaa3: { status: 'damaged', error: 'x' },
    saaaaaaaaaa4: { status: 'saving' },
    saaaaaaaaaa5: { status: 'failed', error: 'x' },
    saaaaaaaaaa6: { status: 'ready', host: 'elsewhere' },
  } as const;
  for (const [id, row] of Object.entries(rows)) {
    const of = { accountId, agentId: `of${id.slice(2)}`, kind: 'named', memory: false, turns: 0 } as const;
    const more = { runtimeKind: 'runtime_a', size: 'small', host: holderName(config), ...row } as const;
    await store.database.transaction((trx) => insertSnapshot(trx, { id, ...of, ...more }));
  }
  await store.close();
  const saved = join(config.dataDir, 'saved');
  const vm = join(config.dataDir, 'vms', 'agent');
  await mkdir(vm, { recursive: true });
  await writeFile(join(vm, 'disk-0123456789ab.qcow2'), Buffer.alloc(2 ** 22, 1));
  for (const id of ['saaaaaaaaaa1', 'saaaaaaaaaa3', 'saaaaaaaaaa5', 'saaaaaaaaaa4.new']) {
    await mkdir(join(saved, id), { recursive: true });
    await writeFile(join(saved, id, 'pages'), Buffer.alloc(2 ** 20, 1));
    await link(join(vm, 'disk-0123456789ab.qcow2'), join(saved, id, 'disk-0123456789ab.qcow2'));
  }
  const summary = ['saved machines', 'ok', "3, 3 MiB that no agent's machine has too"];
  assert.deepEqual(await seen(), [
    summary,
    ['damaged', 'warn', '1: saaaaaaaaaa3'],
    ['missing', 'warn', '1: saaaaaaaaaa2'],
    ['needed by nothing', 'note', '1: saaaaaaaaaa5'],
  ]);
  assert.deepEqual(await seen(readConfig(base)), [summary], 'without a database nothing is said to be wrong');
});
