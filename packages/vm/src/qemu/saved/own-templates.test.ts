/** Templates in the data folder do not need the cache, whatever file system that is on and wherever a kill came. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { templateGid } from '../machine/confinement.ts';
import { copyFile, linkFile } from '../host/take-file.ts';
import { backingOf } from './backing.ts';
import { OwnTemplates } from './own-templates.ts';
import type { OwnTemplatesOptions } from './own-templates.ts';
import { TemplateChecks, templateFileNames, templateFiles } from './template-checks.ts';
import { TemplateStore } from './template-store.ts';
import { hash, makeOld, writeImage, writeTemplate } from './testing.ts';

const run = promisify(execFile);
const log = { debug() {}, info() {}, warn() {}, error() {} };
let folder: string;
let cacheDir: string;
let dataDir: string;
let cache: TemplateStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lodge-own-'));
  [cacheDir, dataDir] = [join(folder, 'cache'), join(folder, 'data')];
  for (const path of [cacheDir, dataDir]) await mkdir(path);
  cache = new TemplateStore(cacheDir, { instance: 'one', dataDir }, new TemplateChecks());
});
afterEach(async () => {
  await run('umount', [dataDir]).catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
});

const ownOf = (options: Partial<OwnTemplatesOptions> = {}): OwnTemplates =>
  new OwnTemplates(cache, { dataDir, diskFloorMib: 1, log, ...options }, new TemplateChecks());
const copies = { linkFile: () => Promise.resolve(false), copyFile };
const inodes = (shelf: TemplateStore | OwnTemplates, id: string): Promise<number[]> =>
  Promise.all(templateFiles.map(async (name) => (await stat(shelf.file(id, name))).ino));

test('a template is taken by links, and is whole when the cache is gone', async () => {
  const { template } = await writeTemplate(cache);
  const own = ownOf();
  assert.equal(await own.find(hash), null);
  assert.equal(await own.take(template.id), true);
  assert.deepEqual(await inodes(own, template.id), await inodes(cache, template.id));
  await rm(cacheDir, { recursive: true });
  for (const any of [own, ownOf()]) assert.deepEqual((await any.find(hash))?.template, template);
  assert.equal(await backingOf(own.file(template.id, 'disk')), 'root.qcow2', 'beside it');
  const modes = await Promise.all(
    ['.', 'manifest.json', ...Object.values(templateFileNames)].map(async (name) => {
      const { uid, gid, mode } = await stat(join(own.root, template.id, name));
      return `${name} ${uid}:${gid} ${(mode & 0o777).toString(8)}`;
    }),
  );
  assert.deepEqual(modes, [
    `. 0:${templateGid} 750`,
    'manifest.json 0:0 600',
    `memory 0:${templateGid} 660`,
    `disk.qcow2 0:${templateGid} 640`,
    'devices 0:0 600',
    'kernel 0:0 644',
    'initrd 0:0 644',
    'root.qcow2 0:0 644',
  ]);
});

test('a template of another file system is copied, once, with owner and modes, and leaves the floor', async () => {
  await run('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'lodge-own', dataDir]);
  const { template } = await writeTemplate(cache);
  await assert.rejects(ownOf({ diskFloorMib: 64 }).take(template.id), { name: 'VmError', code: 'disk_full' });
  assert.deepEqual(await readdir(join(dataDir, 'templates')), []);
  const own = ownOf();
  assert.equal(await own.take(template.id), true);
  const there = async (shelf: TemplateStore | OwnTemplates) =>
    Promise.all(
      templateFiles.map(async (name) => {
        const { uid, gid, mode, size, mtimeNs } = await stat(shelf.file(template.id, name), { bigint: true });
        return [name, uid, gid, mode, size, mtimeNs];
      }),
    );
  assert.deepEqual(await there(own), await there(cache));
  const copied = await inodes(own, template.id);
  await rm(cacheDir, { recursive: true });
  assert.deepEqual((await ownOf().find(hash))?.template, template);
  assert.deepEqual(await inodes(own, template.id), copied);
});

for (const how of ['links', 'copies'] as const) {
  test(`a kill while a template is taken by ${how} leaves none or all of it, and the next try goes through`, async () => {
    const { template } = await writeTemplate(cache);
    const files = templateFiles.length + 1;
    for (let step = 0; step <= files; step += 1) {
      const killed = fileURLToPath(new URL('take-and-die.ts', import.meta.url));
      const child = run(process.execPath, [killed, JSON.stringify({ cacheDir, dataDir, id: template.id, how, step })]);
      await assert.rejects(child, { signal: 'SIGKILL' });
      const own = ownOf();
      // After the last step the folder had its final name.
      const left = step === files ? template.id : `.taking-${template.id}`;
      assert.deepEqual(await readdir(own.root), [left], `after ${step} files`);
      if (step < files) assert.equal(await own.find(hash), null);
      await own.sweep();
      assert.equal(await own.take(template.id), true);
      assert.deepEqual((await own.find(hash))?.template, template);
      await own.collect(() => false);
      assert.deepEqual(await readdir(own.root), []);
    }
  });
}

test('a damaged template in the data folder is mended from the cache, file by file, while disks lie over it', async () => {
  const { template } = await writeTemplate(cache);
  const own = ownOf({ take: copies });
  await own.take(template.id);
  const before = await inodes(own, template.id);
  await appendFile(own.file(template.id, 'memory'), 'x');
  assert.equal(await own.whole(template.id), null);
  assert.deepEqual((await own.bootable(template.id))?.template, template);
  assert.equal(await own.take(template.id), true);
  assert.deepEqual((await own.whole(template.id))?.template, template);
  const moved = (await inodes(own, template.id)).map((inode, index) => inode !== before[index]);
  assert.deepEqual(moved, [true, false, false, false, false, false]);
});

test('damage in the cache does not spread to what the data folder has whole', async () => {
  const { template } = await writeTemplate(cache);
  const own = ownOf({ take: copies });
  await own.take(template.id);
  await appendFile(cache.file(template.id, 'memory'), 'x');
  await rm(own.file(template.id, 'kernel'));
  assert.equal(await own.take(template.id), true);
  assert.deepEqual((await own.whole(template.id))?.template, template);
});

test('nothing is taken of a template that is not there, or whose disk is damaged', async () => {
  const own = ownOf();
  assert.equal(await own.take('absent-1'), false);
  const { template } = await writeTemplate(cache);
  await truncate(cache.file(template.id, 'disk'), 100);
  assert.equal(await own.take(template.id), false);
  assert.deepEqual(await readdir(own.root), []);
});

test('what nothing needs is removed from the data folder, and only that', async () => {
  const [one, two] = [await writeTemplate(cache), await writeTemplate(cache)];
  const own = ownOf();
  for (const { template } of [one, two]) await own.take(template.id);
  assert.deepEqual(await own.collect((id) => id === two.template.id), [one.template.id]);
  assert.deepEqual(await readdir(own.root), [two.template.id]);
  assert.ok(await cache.whole(one.template.id), 'the cache is collected by itself');
});

for (const others of [false, true]) {
  const title = others ? 'copied where another Lodge uses it' : 'linked';
  test(`a template of before is made to stand alone, ${title}, and stays what it was in the cache`, async () => {
    const { template } = await writeTemplate(cache);
    const image = await writeImage(join(cacheDir, 'images', 'image'));
    await makeOld(cache, template.id, image);
    if (others) await writeFile(join(cache.root, template.id, 'users', 'two'), cacheDir);
    const before = await stat(cache.file(template.id, 'memory'), { bigint: true });
    assert.equal(await cache.find(hash), null, 'a new agent gets a new one');
    const own = ownOf();
    assert.equal(await own.take(template.id), true);
    assert.equal(await backingOf(cache.file(template.id, 'disk')), image.rootDisk);
    const after = await stat(cache.file(template.id, 'memory'), { bigint: true });
    assert.equal(after.ctimeNs === before.ctimeNs, others, 'an older Lodge takes another change time for damage');
    await rm(cacheDir, { recursive: true });
    assert.deepEqual((await ownOf().whole(template.id))?.template, template);
    assert.equal(await backingOf(own.file(template.id, 'disk')), 'root.qcow2');
  });
}

test('of a template of before whose memory is damaged the rest is taken: its agents boot from their disks', async () => {
  const { template } = await writeTemplate(cache);
  const image = await writeImage(join(cacheDir, 'images', 'image'));
  await makeOld(cache, template.id, image);
  await appendFile(cache.file(template.id, 'memory'), 'x');
  const own = ownOf();
  assert.equal(await own.take(template.id), true);
  assert.equal(await own.whole(template.id), null);
  assert.deepEqual((await own.bootable(template.id))?.template, template);
  const manifest = JSON.parse(await readFile(join(own.root, template.id, 'manifest.json'), 'utf8')) as object;
  assert.equal('version' in manifest && manifest.version, 3);
  assert.equal(await linkFile(image.kernel, join(folder, 'k')), true);
});
