import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pausedAgents, templates } from './machine.ts';

const folder = await mkdtemp(join(tmpdir(), 'lodge-doctor-'));
after(() => rm(folder, { recursive: true }));

test('it says where the data folder has copies of templates, and where links do', async () => {
  // Neither folder need exist yet.
  const dataDir = join(folder, 'a', 'data');
  const linked = await templates({ dataDir, cacheDir: join(folder, 'cache') });
  assert.deepEqual([linked.state, linked.detail], ['ok', 'data folder and cache share them']);
  const copied = await templates({ dataDir, cacheDir: '/proc/cache' });
  assert.deepEqual([copied.state, copied.advice !== null], ['note', true]);
  assert.match(copied.detail, /two file systems: the data folder has a copy/);
});

test('it says whether paused agents keep their memory, and advises zram on a host without swap', async () => {
  const root = join(folder, 'host');
  const usual = { pageOutAfterMinutes: 10, zramMib: 0 };
  await mkdir(join(root, 'proc'), { recursive: true });
  await mkdir(join(root, 'sys/block/zram0'), { recursive: true });
  const head = 'Filename Type Size Used Priority\n';
  await writeFile(join(root, 'proc/swaps'), head);
  await writeFile(join(root, 'proc/meminfo'), 'Zswap: 0 kB\n');
  const none = await pausedAgents(usual, root);
  assert.deepEqual([none.state, none.detail], ['note', 'keep all their memory: this host has no swap']);
  assert.match(none.advice!, /LODGE_ZRAM_MIB/);
  assert.match((await pausedAgents({ ...usual, zramMib: 2048 }, root)).advice!, /npm start sets up 2\.0 GiB/);
  await writeFile(join(root, 'proc/swaps'), `${head}/dev/zram0 partition 4194304 2097152 100\n`);
  await writeFile(join(root, 'sys/block/zram0/mm_stat'), `0 0 ${2 ** 29} 0 0 0 0 0 0\n`);
  const swap = '/dev/zram0, 4.0 GiB, 2.0 GiB used, for which memory of 0.5 GiB is taken';
  const { state, detail, advice } = await pausedAgents(usual, root);
  assert.deepEqual([state, detail, advice], ['ok', `go to swap after 10 minutes: ${swap}`, null]);
  const kept = await pausedAgents({ ...usual, pageOutAfterMinutes: 0 }, root);
  assert.deepEqual([kept.state, kept.detail], ['ok', `keep their memory until it runs short; swap: ${swap}`]);
});
