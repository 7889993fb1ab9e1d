/** The browser's disks of one Lodge: built when they are wanted, kept while somebody knows them. */
import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { BrowserDiskBuilder } from '@lodge/ports';
import { BrowserDisks } from './browser-disks.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
let folder: string;
let opened: BrowserDisks[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lodge-browser-'));
  // As users of machines must be able to pass it.
  await chmod(folder, 0o711);
  opened = [];
  await mkdir(join(folder, 'cache'));
});
afterEach(async () => {
  for (const disks of opened) await disks.stop();
  await rm(folder, { recursive: true });
});

const open = async (browserDisk: BrowserDiskBuilder, diskFloorMib = 0): Promise<BrowserDisks> => {
  const options = { dataDir: folder, cacheDir: join(folder, 'cache'), diskFloorMib, browserDisk, log: silent };
  const disks = new BrowserDisks(options);
  opened.push(disks);
  await disks.start();
  return disks;
};
const taken = (): Promise<string[]> => readdir(join(folder, 'browser')).catch(() => []);

/** Builds at once, unless `build` takes its time. */
function builderOf(id: string, build: () => Promise<unknown> = async () => undefined) {
  const asked = { builds: 0 };
  const builder: BrowserDiskBuilder = {
    id: async () => id,
    find: async () => null,
    ensure: async (progress) => {
      asked.builds += 1;
      progress('Debian: downloading packages');
      await build();
      const path = join(folder, 'cache', `browser-of-${id}`);
      await writeFile(path, id);
      return { id, path };
    },
  };
  return { ...builder, asked };
}

test('nothing is built or taken before somebody wants the browser, and then once for all', async () => {
  const builder = builderOf('one');
  const disks = await open(builder);
  assert.equal(await disks.current(), null);
  await disks.collect(new Set());
  assert.deepEqual([builder.asked.builds, await taken()], [0, []]);
  const names = await Promise.all([disks.want(), disks.want(), disks.want()]);
  assert.deepEqual(new Set(names), new Set(['one-browser-of-one']));
  assert.equal(builder.asked.builds, 1);
  assert.equal(await readFile(disks.path((await disks.current())!), 'utf8'), 'one');
  await rm(join(folder, 'cache'), { recursive: true });
  const next = await open(builder);
  assert.equal(await next.current(), 'one-browser-of-one', 'the next process needs nothing of the cache');
  await rm(join(folder, 'browser'), { recursive: true });
  assert.equal(await next.current(), null, 'machines start without a disk that somebody removed');
  assert.equal(await next.want(), 'one-browser-of-one', 'and it is made again');
});

test('a long build is told with its step, and found when it has ended', async () => {
  const built = Promise.withResolvers<void>();
  const disks = await open(builderOf('one', () => built.promise));
  assert.deepEqual(await disks.want(), { state: 'building', message: 'Debian: downloading packages' });
  built.resolve();
  assert.equal(await disks.want(), 'one-browser-of-one');
});

test('a failed build is told to all who ask, and not repeated at once', async () => {
  const builder = builderOf('one', () => Promise.reject(new Error('apt-get cannot download. Check the network.')));
  const disks = await open(builder);
  for (const _ of [1, 2]) {
    const told = { state: 'failed', message: 'apt-get cannot download. Check the network.' };
    assert.deepEqual(await disks.want(), told);
  }
  assert.equal(builder.asked.builds, 1);
});

test('nothing is built on a disk without room for it and its floor, and a built one needs none', async () => {
  const builder = builderOf('one');
  const told = await (await open(builder, 2 ** 40)).want();
  assert.ok(typeof told === 'object' && told.state === 'failed');
  assert.match(told.message!, /needs \d+ MiB/);
  assert.equal(builder.asked.builds, 0);
  const built = { ...builder, find: () => builder.ensure(() => undefined, new AbortController().signal) };
  assert.equal(await (await open(built, 2 ** 40)).want(), 'one-browser-of-one');
});

test('an older disk serves while the present one is built, and stays as long as somebody knows it', async () => {
  const old = await (await open(builderOf('old'))).want();
  const built = Promise.withResolvers<void>();
  const disks = await open(builderOf('new', () => built.promise));
  assert.equal(await disks.want(), old);
  built.resolve();
  while ((await disks.current()) === old) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(await disks.want(), 'new-browser-of-new');
  await disks.collect(new Set([old as string]));
  assert.deepEqual(await taken(), ['new-browser-of-new', old]);
  await disks.collect(new Set());
  assert.deepEqual(await taken(), ['new-browser-of-new']);
});

test('what a kill left half taken is removed', async () => {
  await mkdir(join(folder, 'browser'));
  await writeFile(join(folder, 'browser', '.taking-one-browser-of-one'), '');
  assert.equal(await (await open(builderOf('one'))).current(), null);
  assert.deepEqual(await taken(), []);
});
