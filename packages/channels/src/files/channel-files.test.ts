import assert from 'node:assert/strict';
import { mkdtemp, readdir, readlink, rm, utimes } from 'node:fs/promises';
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

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function read(key: string): Promise<string> {
  let text = '';
  for await (const chunk of files.read(key)) text += Buffer.from(chunk).toString();
  return text;
}

test('a file is read as it was written, and removed twice', async () => {
  assert.deepEqual(await files.olderThan(new Date()), []);
  const { key, bytes } = await files.write(chunks('ab', 'c'), 3, signal);
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
  await assert.rejects(files.write(chunks('ab', 'cd'), 3, signal), RangeError);
  await assert.rejects(files.write(failing(), 3, signal), /gone/);
  await assert.rejects(files.write(chunks('a'), 3, AbortSignal.abort()), { name: 'AbortError' });
  assert.deepEqual(await readdir(dir), []);
});

test('old ones are told, and a key leads nowhere else', async () => {
  const [old, young] = [await files.write(chunks('a'), 9, signal), await files.write(chunks('b'), 9, signal)];
  await utimes(join(dir, old.key), 1, 1);
  assert.deepEqual(await files.olderThan(new Date(Date.now() - 60_000)), [old.key]);
  assert.equal(await read(young.key), 'b');
  for (const key of ['../x', '', old.key.toUpperCase(), `${old.key}/..`]) {
    assert.throws(() => files.read(key), RangeError);
    assert.throws(() => files.remove(key), RangeError);
  }
});

test('what is never read holds no descriptor, and one that is gone ends no process', async () => {
  const { key } = await files.write(chunks('a'), 9, signal);
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
  await assert.rejects(files.write(chunks('a'), Number.MAX_SAFE_INTEGER, signal), NoRoomError);
});
