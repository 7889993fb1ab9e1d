import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  appendFile,
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import { templateGid } from '../machine/confinement.ts';
import { TemplateChecks } from './template-checks.ts';
import type { StoredTemplate } from './template-shelf.ts';
import { templateHash, TemplateStore } from './template-store.ts';
import { hash, uid, writeTemplate } from './testing.ts';

const run = promisify(execFile);
let folder: string;
let store: TemplateStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lodge-store-'));
  store = storeOf('one');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const storeOf = (instance: string, dataDir = folder): TemplateStore =>
  new TemplateStore(folder, { instance, dataDir }, new TemplateChecks());
const make = (token = 'secret', readOnlyMapping = false): Promise<StoredTemplate> =>
  writeTemplate(store, { token, readOnlyMapping });

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

test('a template keeps the pace that its host had; one of before has none', async () => {
  const { template } = await make();
  assert.equal(template.pace, 1);
  const slow = await writeTemplate(store, { pace: 7 });
  assert.equal(slow.template.pace, 7);
  assert.equal((await storeOf('two').whole(slow.template.id))?.template.pace, 7);
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
  'written to, and put right again': async (made: StoredTemplate) => {
    const { size } = await stat(made.files.memory);
    await appendFile(made.files.memory, 'x');
    await truncate(made.files.memory, size);
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

test('who may write a template’s memory cannot set its time back, and an unwritten file is known by it', async () => {
  const { template, files } = await make();
  await chmod(folder, 0o711);
  const asVm = ['--reuid', String(uid), '--regid', String(uid), '--groups', String(templateGid), '--'];
  await run('setpriv', [...asVm, 'sh', '-c', 'printf x | dd of="$0" bs=1 conv=notrunc', files.memory]);
  await assert.rejects(run('setpriv', [...asVm, 'touch', '-d', '@1', files.memory]), /not permitted/);
  assert.equal(await store.whole(template.id), null);
});

test('a template that was restored from a backup, under other inodes, is known by its bytes', async () => {
  const { template, files } = await make();
  const path = join(files.memory, '..');
  await run('cp', ['-a', path, `${path}.copy`]);
  await rm(path, { recursive: true });
  await run('mv', [`${path}.copy`, path]);
  const next = storeOf('one');
  assert.deepEqual((await next.whole(template.id))?.template, template);
  await appendFile(files.memory, 'x');
  assert.equal(await next.whole(template.id), null);
});

test('a disk over a template can be booted although the template’s memory is gone, but not without the disk beneath', async () => {
  const made = await make();
  await rm(made.files.memory);
  assert.deepEqual((await store.bootable(made.template.id))?.template, made.template);
  await rm(join(folder, 'images'), { recursive: true });
  assert.deepEqual((await store.bootable(made.template.id))?.template, made.template, 'it has the image’s files');
  await rm(join(made.files.disk, '../root.qcow2'));
  assert.equal(await store.bootable(made.template.id), null);
});

test('a draft that a killed build left is told of, and goes when the same is drafted again', async () => {
  const left = await store.draft(hash, uid);
  assert.deepEqual(await store.abandonedDrafts(), [left.path]);
  assert.deepEqual(await storeOf('two').abandonedDrafts(), []);
  await storeOf('two').draft(hash, uid);
  assert.deepEqual(await store.abandonedDrafts(), []);
});

for (const file of ['memory', 'disk', 'devices'] as const) {
  test(`a template whose ${file} is not what was written, though nobody wrote to it, is not cloned`, async () => {
    const made = await make();
    const path = join(made.files.memory, '../manifest.json');
    const manifest = JSON.parse(await readFile(path, 'utf8')) as { files: Record<string, { sum: string }> };
    manifest.files[file]!.sum = manifest.files[file]!.sum.replaceAll(/^./g, (digit) => (digit === '0' ? '1' : '0'));
    await writeFile(path, JSON.stringify(manifest));
    const next = storeOf('one');
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
  const [one, two] = [store, storeOf('two', join(folder, 'two'))];
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
  assert.deepEqual([...(await one.rootDisks())], [join(folder, 'images/image/r.qcow2')]);
});

test('a user whose data folder is gone counts for a week after it was last heard of', async () => {
  const { template } = await make();
  const dataDir = join(folder, 'gone');
  await storeOf('gone', dataDir).use(template.id);
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
