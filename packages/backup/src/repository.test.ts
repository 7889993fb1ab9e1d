/** The form of backups: what comes out is what went in, or is refused with its file; equal pieces are written once. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  mkdir,
  mkdtemp,
  open,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import { FolderPlace } from './places/folder.ts';
import { chunkBytes, openRepository } from './repository.ts';
import type { Repository } from './repository.ts';
import { chunkNames, storeFile, storeText, readChunks, writeFileBack } from './streams.ts';

const key = { masterKey: randomBytes(32), keyId: '01234567', create: true };
let place: string;
let folder: string;
let repository: Repository;

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'lodge-repository-'));
  folder = join(place, 'backups');
  repository = await openRepository(new FolderPlace(folder), key);
});
afterEach(() => rm(place, { recursive: true, force: true }));

const again = (): Promise<Repository> => openRepository(new FolderPlace(folder), key);

/** Bytes, a hole of three pieces and a bit, bytes. */
async function sparseFile(): Promise<string> {
  const path = join(place, 'disk');
  const file = await open(path, 'w', 0o640);
  await file.write(randomBytes(100_000), 0, 100_000, 0);
  await file.write(randomBytes(5), 0, 5, 4 * chunkBytes + 77);
  await file.close();
  return path;
}

test('a file comes back with its bytes, holes, mode and nanosecond', async () => {
  const path = await sparseFile();
  const stored = await storeFile(repository, path);
  assert.deepEqual(
    stored.chunks.map((item) => (typeof item === 'number' ? item : 'chunk')),
    ['chunk', 3, 'chunk'],
  );
  const back = join(place, 'new', 'disk');
  await writeFileBack(repository, stored, back);
  assert.deepEqual(await readFile(back), await readFile(path));
  const [was, is] = [await stat(path, { bigint: true }), await stat(back, { bigint: true })];
  assert.deepEqual([is.mtimeNs, is.mode, is.size], [was.mtimeNs, was.mode, was.size]);
  assert.ok(is.blocks <= was.blocks + 2048n, 'holes are holes');
  await assert.rejects(writeFileBack(repository, stored, back), { code: 'EEXIST' });
});

test('an empty file, one of zeros and a text in odd pieces come back', async () => {
  const path = join(place, 'file');
  for (const bytes of [0, 1, chunkBytes - 1, chunkBytes, 2 * chunkBytes, 2 * chunkBytes + 1]) {
    await rm(path, { force: true });
    await writeFile(path, '');
    await truncate(path, bytes);
    await writeFileBack(repository, await storeFile(repository, path), `${path}-${bytes}`);
    assert.deepEqual(await readFile(`${path}-${bytes}`), Buffer.alloc(bytes));
  }
  const text = 'ä\n'.repeat(400_000);
  const pieces = async function* (): AsyncIterable<string> {
    for (let at = 0; at < text.length; at += 999_999) yield text.slice(at, at + 999_999);
  };
  const chunks: Buffer[] = [];
  for await (const chunk of readChunks(repository, await storeText(repository, pieces()))) chunks.push(chunk);
  assert.equal(Buffer.concat(chunks).toString(), text);
});

test('what a whole backup has is not written again; what an interrupted one left is', async () => {
  const path = await sparseFile();
  const stored = await storeFile(repository, path);
  const { chunks } = repository.written;
  assert.equal(chunks, 2);
  const interrupted = await again();
  await interrupted.trust([]);
  await storeFile(interrupted, path);
  assert.equal(interrupted.written.chunks, 2, 'nobody trusts them');
  await interrupted.commit({ stored }, new Date());
  const next = await again();
  await next.trust([chunkNames(stored.chunks)]);
  const unread = await storeFile(next, path, stored);
  assert.deepEqual([next.written.chunks, unread.chunks], [0, stored.chunks]);
});

test('a list is there once it is written, the newest are kept, and chunks that none needs go', async () => {
  const names: string[] = [];
  const wanted: string[] = [];
  for (const day of [1, 2, 3]) {
    wanted.push(await repository.put(Buffer.from(`day ${day}`)));
    names.push(await repository.commit({ day }, new Date(2026, 0, day)));
  }
  const lists = join(folder, key.keyId, 'backups');
  const [listNew, chunkNew] = [`${names[0]}.new-0123456789ab`, `${wanted[2]!}.new-0123456789ab`];
  await writeFile(join(lists, listNew), 'cut off');
  await writeFile(join(folder, key.keyId, 'chunks', wanted[2]!.slice(0, 2), chunkNew), 'cut off');
  await writeFile(join(lists, 'notes.txt'), 'somebody else has written this');
  assert.deepEqual(await repository.backups(), names);
  assert.deepEqual(await repository.forget(2), names.slice(0, 1));
  await repository.sweep([wanted.slice(1)]);
  assert.deepEqual(await repository.backups(), names.slice(1));
  assert.deepEqual(await repository.list(names[2]!), { day: 3 });
  await assert.rejects(repository.get(wanted[0]!), /missing/);
  assert.equal((await repository.get(wanted[2]!)).toString(), 'day 3');
  assert.deepEqual((await readdir(lists)).toSorted(), [...names.slice(1), 'notes.txt']);
  assert.deepEqual(await readdir(join(folder, key.keyId, 'chunks', wanted[2]!.slice(0, 2))), [wanted[2]!]);
});

test('a bit that changed, a piece under another name and a cut one are refused with the file', async () => {
  const [one, two] = [await repository.put(randomBytes(50_000)), await repository.put(randomBytes(50_000))];
  const list = await repository.commit({ fine: true }, new Date());
  const pathOf = (name: string): string => join(folder, key.keyId, 'chunks', name.slice(0, 2), name);
  const bytes = await readFile(pathOf(one));
  const refused = async (work: Promise<unknown>, path: string): Promise<void> => {
    await assert.rejects(work, (error: Error) => error.name === 'BackupError' && error.message.includes(path));
  };
  for (const at of [0, 20, bytes.length - 1]) {
    const flipped = Buffer.from(bytes);
    flipped[at]! ^= 4;
    await writeFile(pathOf(one), flipped);
    await refused(repository.get(one), pathOf(one));
  }
  await writeFile(pathOf(one), await readFile(pathOf(two)));
  await refused(repository.get(one), pathOf(one));
  await writeFile(pathOf(one), bytes.subarray(0, 10));
  await refused(repository.get(one), pathOf(one));
  const path = join(folder, key.keyId, 'backups', list);
  const sealed = await readFile(path);
  sealed[30]! ^= 1;
  await writeFile(path, sealed);
  await refused(repository.list(list), path);
});

test('links, pipes and giant files in the folder are refused by name, and lead to nothing elsewhere', async () => {
  const one = await repository.put(randomBytes(50_000));
  const chunks = join(folder, key.keyId, 'chunks');
  const path = join(chunks, one.slice(0, 2), one);
  const whole = join(place, 'moved');
  await rename(path, whole);
  const refused = async (message: RegExp): Promise<void> => {
    await assert.rejects(repository.get(one), (error: Error) => {
      assert.equal(error.name, 'BackupError');
      assert.ok(error.message.startsWith(path), error.message);
      assert.match(error.message, message);
      return true;
    });
    await rm(path);
  };
  await symlink(whole, path);
  await refused(/cannot be read/);
  await symlink('/dev/zero', path);
  await refused(/cannot be read/);
  await promisify(execFile)('mkfifo', [path]);
  await refused(/is no file/);
  await writeFile(path, '');
  await truncate(path, 2 ** 40);
  await refused(/larger than anything/);
  await assert.rejects(repository.get('../../../../etc/passwd'), /names a chunk that cannot be/);
  await assert.rejects(repository.list('../../../../etc/passwd'), /There is no backup/);
  // A folder of chunks that is a link: what lies there is neither written, nor read, nor removed.
  const elsewhere = join(place, 'elsewhere');
  await mkdir(elsewhere);
  await writeFile(join(elsewhere, 'a'.repeat(40)), 'somebody’s');
  for (const name of await readdir(chunks)) await rm(join(chunks, name), { recursive: true });
  for (let n = 0; n < 256; n += 1) await symlink(elsewhere, join(chunks, n.toString(16).padStart(2, '0')));
  const next = await again();
  await next.sweep([]);
  await assert.rejects(next.put(randomBytes(10)), /is no folder/);
  assert.deepEqual(await readdir(elsewhere), ['a'.repeat(40)]);
});

test('another key is told by name, and one process writes at a time', async () => {
  await repository.commit({}, new Date());
  const other = { masterKey: randomBytes(32), keyId: '89abcdef', create: false };
  await assert.rejects(
    openRepository(new FolderPlace(folder), other),
    /made under the master key 01234567, and the one given is 89abcdef/,
  );
  await assert.rejects(openRepository(new FolderPlace(join(place, 'none')), other), /no backup/);
  const forged = await openRepository(new FolderPlace(folder), { ...other, keyId: key.keyId });
  await assert.rejects(forged.list((await repository.backups())[0]!), /is damaged/);
  const unlock = await repository.lock();
  await assert.rejects((await again()).lock(), /Another process/);
  unlock();
});
