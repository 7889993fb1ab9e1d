import assert from 'node:assert/strict';
import { link, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { sizes } from '@lodge/domain';
import { unlessStrays, writeManifest } from './manifest.ts';
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

/** A saved machine without memory. */
async function bareMachine(store: SavedStore, id: string): Promise<string> {
  const folder = store.path(id);
  await mkdir(folder, { recursive: true });
  const about = { version: 1, id, agentId: 'a', executionId: 'e', savedAt: 0, templateId: 't' } as const;
  const layers = [{ name: 'disk-0123456789ab.qcow2', bytes: 1, mark: '', sum: null }];
  await writeManifest(folder, { ...about, machine: sizes.small, facts: null, layers, memory: null, listing: null });
  await writeFile(join(folder, layers[0]!.name), 'x');
  return folder;
}

test('a sweep removes files that the manifest does not name, and nothing of a machine whose manifest is damaged', async () => {
  const store = new SavedStore(dataDir);
  const [swept, damaged] = [await bareMachine(store, 'swept'), await bareMachine(store, 'damaged')];
  for (const name of ['memory', 'memory.sums', 'pages.rest', 'manifest.new']) {
    for (const folder of [swept, damaged]) await writeFile(join(folder, name), 'half');
  }
  await writeFile(join(damaged, 'manifest'), 'cut off');
  await store.sweep();
  assert.deepEqual((await readdir(swept)).sort(), ['disk-0123456789ab.qcow2', 'manifest']);
  assert.equal((await readdir(damaged)).length, 6);
});

test('work that fails takes away what it wrote, but not what the manifest names by then', async () => {
  const folder = await bareMachine(new SavedStore(dataDir), 'changes');
  const names = ['memory', 'disk-0123456789ab.qcow2'];
  const work = async (): Promise<void> => {
    await writeFile(join(folder, 'memory'), 'half');
    throw new Error('no room');
  };
  await assert.rejects(unlessStrays(folder, names, work), /no room/);
  assert.deepEqual((await readdir(folder)).sort(), ['disk-0123456789ab.qcow2', 'manifest']);
});
