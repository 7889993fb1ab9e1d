import assert from 'node:assert/strict';
import { mkdtemp, readdir, readlink, rename, rm, utimes } from 'node:fs/promises';
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
const owner = { accountId: 'account', agentId: 'one' };

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

test('a file that the disk has no room for is not taken', async () => {
  await assert.rejects(files.write(owner, chunks('a'), Number.MAX_SAFE_INTEGER, signal), NoRoomError);
});

test('an agent and its account keep so many bytes and files at a time, also for another process; others have room', async () => {
  const bounds = { bytesOfAgent: 1_000, bytesOfAccount: 1_800, filesOfAccount: 5 };
  const here = createChannelFiles(join(root, 'bounded'), bounds);
  const there = createChannelFiles(join(root, 'bounded'), bounds);
  const text = 'x'.repeat(600);
  const [two, other] = [
    { ...owner, agentId: 'two' },
    { ...owner, accountId: 'other' },
  ];
  const first = await here.write(owner, chunks(text), 5_000, signal);
  await assert.rejects(there.write(owner, chunks(text), 5_000, signal), NoRoomError);
  assert.equal((await there.write(owner, chunks('x'.repeat(400)), 5_000, signal)).bytes, 400);
  await there.write(two, chunks(text), 5_000, signal);
  await assert.rejects(here.write(two, chunks('x'.repeat(300)), 5_000, signal), NoRoomError, 'of the account');
  await here.write(other, chunks(text), 5_000, signal);
  await there.remove(first.key);
  await here.write(owner, chunks('x'.repeat(500)), 5_000, signal);
  for (let n = 0; n < 2; n += 1) await here.write(owner, chunks('x'), 5_000, signal);
  await assert.rejects(here.write(two, chunks('x'), 5_000, signal), NoRoomError, 'so many files');
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
