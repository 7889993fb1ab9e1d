import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { templateGid } from '../machine/confinement.ts';
import { templateHash, TemplateStore } from './template-store.ts';
import type { StoredTemplate } from './template-store.ts';

const uid = 2_000_000_000;
const hash = templateHash(['image', 'variant']);
let folder: string;
let store: TemplateStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lodge-store-'));
  store = new TemplateStore(folder, { instance: 'one', dataDir: folder });
  for (const name of ['kernel', 'initrd', 'root.qcow2']) await writeFile(join(folder, name), name);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function make(token = 'secret', readOnlyMapping = false): Promise<StoredTemplate> {
  const draft = await store.draft(hash, uid);
  for (const path of Object.values(draft.files) as string[]) await writeFile(path, path);
  const made = {
    imageId: 'image',
    facts: { token },
    madeWith: 'QEMU 7.2 (tcg)',
    diskBytes: 10 * 2 ** 30,
    kernel: join(folder, 'kernel'),
    initrd: join(folder, 'initrd'),
    rootDisk: join(folder, 'root.qcow2'),
  };
  return store.commit(draft, made, readOnlyMapping);
}

test('a draft is no template until it is committed, and then is found by hash and by id', async () => {
  await store.draft(hash, uid);
  assert.equal(await store.find(hash), null);
  const made = await make();
  assert.deepEqual(await store.find(hash), made);
  assert.deepEqual(await store.whole(made.template.id), made);
  assert.deepEqual(made.template.facts, { token: 'secret' });
  assert.equal(await store.find(templateHash(['another'])), null);
  assert.deepEqual(await store.abandonedDrafts(), []);
});

test('nobody but root reads a template’s facts, and VMs write no part of it that they need not', async () => {
  const modes = async (): Promise<string[]> => {
    const { template } = await make('token', true);
    const path = join(store.root, template.id);
    const names = ['.', 'manifest.json', 'devices', 'disk.qcow2', 'memory'];
    const stats = await Promise.all(names.map((name) => stat(join(path, name))));
    for (const found of stats) assert.equal(found.uid, 0);
    for (const index of [0, 3, 4]) assert.equal(stats[index]!.gid, templateGid);
    return stats.map((found) => (found.mode & 0o777).toString(8));
  };
  assert.deepEqual(await modes(), ['750', '600', '600', '640', '640']);
});

for (const [what, damage] of Object.entries({
  'written to': (made: StoredTemplate) => appendFile(made.files.memory, 'x'),
  'written to, its times set back': async (made: StoredTemplate) => {
    const { atime, mtime, size } = await stat(made.files.memory);
    await appendFile(made.files.memory, 'x');
    await truncate(made.files.memory, size);
    await utimes(made.files.memory, atime, mtime);
  },
  'without its device state': (made: StoredTemplate) => rm(made.files.devices),
  'without its memory': (made: StoredTemplate) => rm(made.files.memory),
  'without its manifest': (made: StoredTemplate) => rm(join(made.files.memory, '../manifest.json')),
  'with half a manifest': (made: StoredTemplate) => truncate(join(made.files.memory, '../manifest.json'), 20),
})) {
  test(`a template ${what} is not cloned any more; the next one is made beside it`, async () => {
    const made = await make('old');
    await damage(made);
    assert.equal(await store.find(hash), null);
    assert.equal(await store.whole(made.template.id), null);
    const next = await make('new');
    assert.notEqual(next.template.id, made.template.id);
    assert.deepEqual((await store.find(hash))?.template.facts, { token: 'new' });
    assert.ok((await readdir(store.root)).includes(made.template.id), 'disks of agents may lie over it');
  });
}

test('a disk over a template can be booted although the template’s memory is gone, but not without the disk beneath', async () => {
  const made = await make();
  await rm(made.files.memory);
  assert.deepEqual((await store.bootable(made.template.id))?.template, made.template);
  await rm(join(folder, 'root.qcow2'));
  assert.equal(await store.bootable(made.template.id), null);
});

test('a draft that a killed build left is told of, and goes when the same is drafted again', async () => {
  const left = await store.draft(hash, uid);
  assert.deepEqual(await store.abandonedDrafts(), [left.path]);
  assert.deepEqual(await new TemplateStore(folder, { instance: 'two', dataDir: folder }).abandonedDrafts(), []);
  await new TemplateStore(folder, { instance: 'two', dataDir: folder }).draft(hash, uid);
  assert.deepEqual(await store.abandonedDrafts(), []);
});

for (const file of ['memory', 'disk', 'devices'] as const) {
  test(`a template whose ${file} is not what was written, though nobody wrote to it, is not cloned`, async () => {
    const made = await make();
    const path = join(made.files.memory, '../manifest.json');
    const manifest = JSON.parse(await readFile(path, 'utf8')) as { sums: Record<string, string> };
    manifest.sums[file] = manifest.sums[file]!.replaceAll(/^./g, (digit) => (digit === '0' ? '1' : '0'));
    await writeFile(path, JSON.stringify(manifest));
    const next = new TemplateStore(folder, { instance: 'one', dataDir: folder });
    assert.equal(await next.whole(made.template.id), null);
    assert.equal((await next.bootable(made.template.id)) === null, file === 'disk');
    assert.deepEqual(
      await store.whole(made.template.id),
      null,
      'whoever made it knows it by what is written down, too',
    );
  });
}

test('a template is removed by the last of its users, and by nobody while another may have VMs over it', async () => {
  const [one, two] = [store, new TemplateStore(folder, { instance: 'two', dataDir: join(folder, 'two') })];
  await mkdir(join(folder, 'two'));
  const old = (await make('old')).template.id;
  const kept = (await make('kept')).template.id;
  assert.ok(await two.use(old));
  const needsKept = (id: string): boolean => id === kept;
  assert.deepEqual(await one.collect(needsKept), []);
  assert.deepEqual(
    (await two.collect(() => false)).map(({ id }) => id),
    [old],
  );
  assert.equal(await two.use(old), false);
  assert.deepEqual(await readdir(store.root), [kept]);
  assert.deepEqual([...(await one.rootDisks())], [join(folder, 'root.qcow2')]);
});

test('a user whose data folder is gone counts for a week after it was last heard of', async () => {
  const { template } = await make();
  const dataDir = join(folder, 'gone');
  await new TemplateStore(folder, { instance: 'gone', dataDir }).use(template.id);
  assert.deepEqual(await store.collect(() => false), []);
  const then = new Date(Date.now() - 8 * 24 * 60 * 60_000);
  await utimes(join(store.root, template.id, 'users', 'gone'), then, then);
  assert.equal((await store.collect(() => false)).length, 1);
  assert.deepEqual(await readdir(store.root), []);
});

test('what an older Lodge made, which named no users, and what is being made is left alone', async () => {
  const { template } = await make();
  await rm(join(store.root, template.id, 'users'), { recursive: true });
  await store.draft(hash, uid);
  assert.deepEqual(await store.collect(() => false), []);
  assert.equal((await readdir(store.root)).length, 2);
});

test('an id that is not one reaches no file', async () => {
  await assert.rejects(store.whole('../../etc'), { code: 'template_missing' });
});
