import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { templates } from './machine.ts';

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
