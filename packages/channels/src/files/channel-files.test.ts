import assert from 'node:assert/strict';
import { link, mkdtemp, readdir, readlink, rename, rm, statfs, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { NoRoomError } from '@lodge/ports';
import { createChannelFiles } from './channel-files.ts';

const root = await mkdtemp(join(tmpdir(), 'channel-files-'));
after(() => rm(root, { recursive: true }));
const dir = join(root, 'files');
const files = createChannelFiles(dir);
const { signal } = new AbortController();
const owner = { accountId: 'account', agentId: 'one', way: 'in' } as const;

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

const kept = async (): Promise<string[]> =>
  (await readdir(dir, { recursive: true, withFileTypes: true }))
    .filter((each) => each.isFile())
    .map(({ name }) => name);

async function read(key: string): Promise<string> {
  let text = '';
  for await (const chunk of files.read(key)) text += Buffer.from(chunk).toString();
  return text;
}

test('a file is read as it was written, and removed twice', async () => {
  assert.deepEqual(await files.olderThan(new Date()), []);
  const { key, bytes } = await files.write(owner, chunks('ab', 'c'), 3, signal);
  assert.deepEqual([await read(key), bytes], ['abc', 3]);
  await files.remove(key);
  await files.remove(key);
  await assert.rejects(read(key), { code: 'ENOENT' });
});

test('beyond the bound, when it is aborted, and when the source fails nothing is kept', async () => {
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('a');
    throw new Error('gone');
  }
  await assert.rejects(files.write(owner, chunks('ab', 'cd'), 3, signal), RangeError);
  await assert.rejects(files.write(owner, failing(), 3, signal), /gone/);
  await assert.rejects(files.write(owner, chunks('a'), 3, AbortSignal.abort()), { name: 'AbortError' });
  assert.deepEqual(await kept(), []);
});

test('old ones are told, and a key leads nowhere else', async () => {
  const [old, young] = [
    await files.write(owner, chunks('a'), 9, signal),
    await files.write(owner, chunks('b'), 9, signal),
  ];
  await utimes(join(dir, old.key), 1, 1);
  assert.deepEqual(await files.olderThan(new Date(Date.now() - 60_000)), [old.key]);
  assert.equal(await read(young.key), 'b');
  for (const key of ['../x', '', old.key.toUpperCase(), `${old.key}/..`]) {
    assert.throws(() => files.read(key), RangeError);
    assert.throws(() => files.remove(key), RangeError);
  }
});

test('what is never read holds no descriptor, and one that is gone ends no process', async () => {
  const { key } = await files.write(owner, chunks('a'), 9, signal);
  const unread = files.read(key);
  const gone = files.read('0'.repeat(32));
  await new Promise((resolve) => setTimeout(resolve, 50));
  const held = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  assert.deepEqual(
    held.filter((path) => path.startsWith(dir)),
    [],
  );
  for await (const chunk of unread) assert.equal(String(chunk), 'a');
  await assert.rejects(async () => {
    for await (const _ of gone);
  });
});

/** A file of so many bytes, which ends when the test says so. */
function held(length: number) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  async function* bytes(): AsyncGenerator<Uint8Array> {
    begun.resolve();
    await promise;
    yield Buffer.alloc(length, 'x');
  }
  return { bytes: bytes(), begun: begun.promise, end: resolve };
}

test('a file that the disk has no room for is not taken, nor one that has none beside those under way', async () => {
  const { bavail, bsize } = await statfs(root);
  const gib = 1024 ** 3;
  const given = { bytesOfAgent: 1_000 * gib, freeBytes: bavail * bsize - 150 * gib };
  const tight = createChannelFiles(join(root, 'tight'), given);
  await assert.rejects(tight.write(owner, chunks('a'), 200 * gib, signal), NoRoomError);
  const first = held(1);
  const written = tight.write(owner, first.bytes, 100 * gib, signal);
  await first.begun;
  await assert.rejects(tight.write(owner, chunks('a'), 100 * gib, signal), NoRoomError);
  first.end();
  await written;
  await tight.write(owner, chunks('a'), 100 * gib, signal);
});

test('an agent and its account keep so many bytes and files each way; others, and what goes the other way, have room', async () => {
  const bounds = { bytesOfAgent: 1_000, bytesOfAccount: 1_800, filesOfAgent: 4, filesOfAccount: 6 };
  const here = createChannelFiles(join(root, 'bounded'), bounds);
  const text = 'x'.repeat(600);
  const [two, other, out] = [
    { ...owner, agentId: 'two' },
    { ...owner, accountId: 'other' },
    { ...owner, way: 'out' },
  ] as const;
  const first = await here.write(owner, chunks(text), 5_000, signal);
  await assert.rejects(here.write(owner, chunks(text), 5_000, signal), NoRoomError);
  for (const each of [two, other, out]) await here.write(each, chunks(text), 5_000, signal);
  assert.equal((await here.write(owner, chunks('x'.repeat(400)), 5_000, signal)).bytes, 400);
  await assert.rejects(here.write(two, chunks('x'.repeat(300)), 5_000, signal), NoRoomError, 'of the account');
  await Promise.all([here.remove(first.key), here.remove(first.key)]);
  await here.write(owner, chunks('x'.repeat(500)), 5_000, signal);
  for (let n = 0; n < 2; n += 1) await here.write(owner, chunks(''), 5_000, signal);
  await assert.rejects(here.write(owner, chunks(''), 5_000, signal), NoRoomError, 'so many files of one agent');
  await here.write(two, chunks(''), 5_000, signal);
  await assert.rejects(here.write(two, chunks(''), 5_000, signal), NoRoomError, 'so many files of the account');
  for (let n = 0; n < 3; n += 1) await here.write(out, chunks(''), 5_000, signal);

  const restarted = createChannelFiles(join(root, 'bounded'), bounds);
  for (const each of [owner, two, out]) await assert.rejects(restarted.write(each, chunks(''), 1, signal), NoRoomError);
  await restarted.write(other, chunks(''), 1, signal);
  for (const key of await restarted.olderThan(new Date(Date.now() + 60_000))) await restarted.remove(key);
  await restarted.write(owner, chunks('x'.repeat(1_000)), 1_000, signal);
});

test('of files that are written at once an agent has no more than its part, and its neighbour all of its own', async () => {
  const bounds = { bytesOfAgent: 10_000, bytesOfAccount: 20_000, filesOfAgent: 20, filesOfAccount: 40 };
  const busy = createChannelFiles(join(root, 'busy'), bounds);
  const all = Array.from({ length: 128 }, (_, n) => ({ ...held(n % 2 === 0 ? 0 : 2_000), agentId: `a${n % 2}` }));
  const writes = all.map(({ bytes, agentId }) => busy.write({ ...owner, agentId }, bytes, 5_000, signal));
  for (const { end } of all) end();
  const results = await Promise.allSettled(writes);
  const written = [0, 1].map((agent) => results.filter(({ status }, n) => n % 2 === agent && status === 'fulfilled'));
  assert.deepEqual(
    written.map((each) => each.length),
    [20, 5],
  );
  for (const each of results) if (each.status === 'rejected') assert.ok(each.reason instanceof NoRoomError);
});

test('a write costs no more where its account keeps thousands of files', async () => {
  const many = createChannelFiles(join(root, 'many'));
  const { key } = await many.write(owner, chunks('a'), 9, signal);
  const [folder, name] = key.split('/') as [string, string];
  const cpuOf = async (): Promise<number> => {
    const before = process.cpuUsage();
    for (let n = 0; n < 20; n += 1) await many.write({ ...owner, agentId: 'two' }, chunks('a'), 9, signal);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const least = Math.min(await cpuOf(), await cpuOf(), await cpuOf());
  for (let n = 0; n < 9_000; n += 1) {
    await link(join(root, 'many', key), join(root, 'many', folder, name.slice(0, -8) + String(n).padStart(8, '0')));
  }
  assert.ok(Math.min(await cpuOf(), await cpuOf(), await cpuOf()) < 3 * least);
});

test('what is half written when its process is killed goes with its age', async () => {
  const folder = join(root, 'killed');
  const [key] = [(await createChannelFiles(folder).write(owner, chunks('a'), 9, signal)).key];
  const half = key.replace(/\.[0-9]+\./, '.new.');
  await rename(join(folder, key), join(folder, half));
  await utimes(join(folder, half), 1, 1);
  const swept = createChannelFiles(folder);
  for (const old of await swept.olderThan(new Date(Date.now() - 60_000))) await swept.remove(old);
  assert.deepEqual(await readdir(join(folder, key.split('/')[0]!)), []);
});
