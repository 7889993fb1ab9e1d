import assert from 'node:assert/strict';
import { link, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { SavedStore } from './saved-store.ts';

const dataDir = await mkdtemp(join(tmpdir(), 'lodge-saved-'));
after(() => rm(dataDir, { recursive: true }));

test('a layer that several machines have is divided among them', async () => {
  const store = new SavedStore(dataDir);
  const [one, two] = [store.path('one'), store.path('two')];
  for (const folder of [one, two]) await mkdir(folder, { recursive: true });
  await writeFile(join(one, 'pages'), Buffer.alloc(2 ** 20, 1));
  await writeFile(join(one, 'disk-0123456789ab.qcow2'), Buffer.alloc(3 * 2 ** 20, 1));
  await link(join(one, 'disk-0123456789ab.qcow2'), join(two, 'disk-0123456789ab.qcow2'));
  const bytesOf = async (name: string): Promise<number> => (await stat(join(one, name))).blocks * 512;
  const [pages, layer] = [await bytesOf('pages'), await bytesOf('disk-0123456789ab.qcow2')];
  assert.ok(layer >= 3 * 2 ** 20);
  assert.deepEqual([await store.heldBytes('one'), await store.heldBytes('two')], [pages + layer / 2, layer / 2]);
  await rm(two, { recursive: true });
  assert.equal(await store.heldBytes('one'), pages + layer);
  assert.equal(await store.heldBytes('none'), 0);
});
