/**
 * Backups in restic's hands, where they lie: a folder with all that can go wrong, then a bucket of a real storage and a real
 * sshd with what differs there. The guarantees: what comes back is what went in, to its times and owners; what is damaged,
 * locked with another key, full or out of reach ends in one sentence of ours; what a kill leaves is cleared up; and neither
 * the password nor a credential stands on a command line.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { backupPassword, newBackupName, placeOf, Repository } from '@lodge/backup';
import { ObjectStorage } from '@lodge/testkit/object-storage';
import { SftpServer } from '@lodge/testkit/sftp-server';

const run = promisify(execFile);
const minuteMs = 60_000;
const masterKey = randomBytes(32);
const password = backupPassword(masterKey);
const keyId = 'abcd0123';
let folder: string;
let source: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lodge-places-'));
  source = join(folder, 'source');
  await mkdir(join(source, 'deep'), { recursive: true });
  await writeFile(join(source, 'deep', 'disk'), randomBytes(3_000_000));
  await writeFile(join(source, 'text'), 'of the first time', { mode: 0o640 });
  await utimes(join(source, 'text'), 1_700_000_000, 1_700_000_000.123);
});
after(async () => {
  await run('umount', [join(folder, 'full')]).catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
});

interface Opened {
  readonly sshConfig?: string;
  readonly credentials?: Record<string, string>;
  readonly password?: string;
}

function openAt(name: string, create: boolean, opened: Opened = {}): Promise<Repository | null> {
  const { sshConfig = null, credentials = {} } = opened;
  const place = placeOf(name, { sshConfig });
  const cacheDir = place.folder === null ? join(folder, 'cache') : null;
  return Repository.open({ place, keyId, password: opened.password ?? password, cacheDir, credentials }, { create });
}

let minute = 0;
async function store(repository: Repository, files = ['deep/disk', 'text']): Promise<string> {
  const backup = newBackupName(new Date(Date.UTC(2026, 0, 1, 0, (minute += 1))), 'abcdef');
  const about = { backup, folder: source, scratch: folder, onProgress: () => undefined };
  const { files: count } = await repository.store({ ...about, part: 1, files, parent: repository.parentOf(1) });
  assert.equal(count, files.length);
  await repository.store({ ...about, part: null, files: ['text'], parent: repository.parentOf(null) });
  return backup;
}

async function assertBack(repository: Repository, backup: string): Promise<void> {
  const target = await mkdtemp(join(folder, 'back-'));
  await repository.restore(repository.snapshotOf(backup, 1), target);
  for (const name of ['deep/disk', 'text']) {
    assert.deepEqual(await readFile(join(target, name)), await readFile(join(source, name)));
    const [there, here] = await Promise.all([target, source].map((each) => stat(join(each, name), { bigint: true })));
    for (const fact of ['mode', 'uid', 'gid', 'mtimeNs'] as const) assert.equal(there![fact], here![fact], fact);
  }
  await rm(target, { recursive: true });
}

/** A sentence of Lodge's, without secrets and without restic's text. */
async function refused(work: Promise<unknown>, wanted: RegExp): Promise<void> {
  await assert.rejects(work, (error: Error) => {
    assert.equal(error.name, 'BackupError', error.stack);
    assert.match(error.message, wanted);
    assert.match(error.message, /^[^\n]+\.$/);
    assert.doesNotMatch(error.message, new RegExp(`Fatal|restic|${password}`));
    return true;
  });
}

const packsIn = async (place: string): Promise<string[]> =>
  (await readdir(join(place, `lodge-${keyId}`, 'data'), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

async function flip(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, 100);
  await handle.write(Buffer.from([buffer[0]! ^ 1]), 0, 1, 100);
  await handle.close();
}

/** Looks at every process as long as the work goes on. */
async function unseen<T>(work: Promise<T>, secrets: readonly string[]): Promise<T> {
  const state = { isOver: false };
  const over = work.finally(() => (state.isOver = true));
  while (!state.isOver) {
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const line = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
      for (const secret of secrets) assert.ok(!line.includes(secret), 'a secret is on a command line');
      if (!line.includes('restic\0')) continue;
      // The kernel shows it to root alone.
      const facts = await stat(`/proc/${pid}/environ`).catch(() => null);
      if (facts) assert.deepEqual([facts.mode & 0o777, facts.uid], [0o400, 0]);
      const env = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
      assert.ok(!env.includes(password), 'the password is in an environment');
    }
    await sleep(20);
  }
  return over;
}

test(
  'in a folder: there and back, only what is new, kept as asked, and checked',
  { timeout: 5 * minuteMs },
  async () => {
    const place = join(folder, 'place');
    assert.equal(await openAt(place, false), null);
    const repository = (await openAt(place, true))!;
    assert.equal((await stat(join(place, `lodge-${keyId}`))).mode & 0o77, 0);
    const first = await unseen(store(repository), [password]);
    const again = (await openAt(place, false))!;
    assert.deepEqual(again.backups(), [first]);
    await assertBack(again, first);
    await writeFile(join(source, 'text'), 'of the second time');
    const before = (await packsIn(place)).length;
    const second = await store(again);
    assert.ok((await packsIn(place)).length - before <= 3, 'the disk is not written again');
    await assertBack((await openAt(place, false))!, second);
    await again.check({ everything: true });
    assert.deepEqual(await again.forget(['--keep-last', '1']), [first]);
    await again.clear({ always: true });
    assert.deepEqual(again.backups(), [second]);
    assert.throws(() => again.snapshotOf(first, 1), /There is no backup/);
    await assertBack(again, second);
  },
);

test(
  'in a folder: a wrong key, a changed bit, what is missing and what is full',
  { timeout: 5 * minuteMs },
  async () => {
    const place = join(folder, 'faults');
    const backup = await store((await openAt(place, true))!);
    const repository = (await openAt(place, false))!;
    await refused(openAt(place, false, { password: 'another' }), /do not open with this master key/);
    const packs = await packsIn(place);
    const sizes = await Promise.all(packs.map(async (path) => ({ path, size: (await stat(path)).size })));
    const largest = sizes.toSorted((a, b) => b.size - a.size)[0]!.path;
    await flip(largest);
    await refused(repository.check({ everything: true }), /are damaged/);
    await refused(repository.restore(repository.snapshotOf(backup, 1), join(folder, 'torn')), /are damaged/);
    await flip(largest);
    await repository.check({ everything: true });
    await rm(largest);
    await refused(repository.restore(repository.snapshotOf(backup, 1), join(folder, 'torn')), /are damaged/);
    const full = join(folder, 'full');
    await mkdir(full);
    await run('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'lodge-full', full]);
    const small = (await openAt(full, true))!;
    await refused(store(small), /There is no room left in/);
    assert.deepEqual((await openAt(full, false))!.backups(), []);
  },
);

test(
  'in a folder: the lock of a run that was killed goes, and so do its parts',
  { timeout: 5 * minuteMs },
  async () => {
    const place = join(folder, 'killed');
    const repository = (await openAt(place, true))!;
    const whole = await store(repository);
    const about = { folder: source, scratch: folder, onProgress: () => undefined, parent: null };
    await repository.store({ ...about, backup: '2026-01-02T00-00-00-000Z-abcdef', part: 1, files: ['deep/disk'] });
    // As restic leaves it: of a process of this host that is gone.
    const locks = join(place, `lodge-${keyId}`, 'locks');
    const work = run(process.execPath, ['--input-type=module', '-e', lockAndDie, place, keyId, password]);
    await work.catch(() => undefined);
    assert.ok((await readdir(locks)).length > 0, 'no lock was left');
    const next = (await openAt(place, false))!;
    assert.deepEqual(next.backups(), [whole]);
    await next.clear({ always: true });
    assert.deepEqual(await readdir(locks), []);
    await assertBack(next, whole);
    assert.throws(() => next.snapshotOf('2026-01-02T00-00-00-000Z-abcdef', 1), /There is no backup/);
  },
);

/** Begins to check a repository and is killed when its lock is there. */
const lockAndDie = `
  const [place, keyId, password] = process.argv.slice(1);
  const { placeOf, Repository } = await import(${JSON.stringify(import.meta.resolve('@lodge/backup'))});
  const { readdirSync } = await import('node:fs');
  const options = { place: placeOf(place), keyId, password, cacheDir: null, credentials: {} };
  const repository = await Repository.open(options, { create: false });
  setInterval(() => readdirSync(place + '/lodge-' + keyId + '/locks').length > 0 && process.kill(process.pid, 'SIGKILL'), 1);
  for (;;) await repository.check({ everything: true });
`;

test('in a bucket: there and back, and what the storage refuses', { timeout: 10 * minuteMs }, async (t) => {
  const storage = await ObjectStorage.start();
  t.after(() => storage.stop());
  await storage.makeBucket('backups');
  const { accessKeyId, secretAccessKey } = storage.key;
  const credentials = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
  const at = `s3:${storage.endpoint}/backups/lodge`;
  assert.equal(await openAt(at, false, { credentials }), null);
  const backup = await unseen(store((await openAt(at, true, { credentials }))!), [password, secretAccessKey]);
  const repository = (await openAt(at, false, { credentials }))!;
  await assertBack(repository, backup);
  await repository.check({ everything: true });
  const wrong = { ...credentials, AWS_SECRET_ACCESS_KEY: 'x'.repeat(40) };
  await refused(openAt(at, false, { credentials: wrong }), /does not take the credentials/);
  await refused(openAt(at, false), /does not take the credentials|There are no credentials|not permitted/);
  const reading = {
    AWS_ACCESS_KEY_ID: storage.readingKey.accessKeyId,
    AWS_SECRET_ACCESS_KEY: storage.readingKey.secretAccessKey,
  };
  await refused(openAt(`${at}-other`, true, { credentials: reading }), /could not be written: it is not permitted/);
  await storage.stop();
  await refused(openAt(at, false, { credentials }), /cannot be reached/);
});

test('by sftp: there and back, and a host that refuses or is gone', { timeout: 10 * minuteMs }, async (t) => {
  const server = await SftpServer.start();
  t.after(() => server.stop());
  const { sshConfig } = server;
  assert.equal(await openAt(server.address, false, { sshConfig }), null);
  const backup = await unseen(store((await openAt(server.address, true, { sshConfig }))!), [password]);
  const repository = (await openAt(server.address, false, { sshConfig }))!;
  await assertBack(repository, backup);
  await refused(openAt(server.address, false, { sshConfig: '/dev/null' }), /ssh is refused/);
  await server.down();
  await refused(openAt(server.address, false, { sshConfig }), /cannot be reached/);
});

test('a place says what it is, and a name with credentials is not repeated', () => {
  for (const name of [
    's3:https://key:secret@host/b',
    'ftp://key:secret@host/x',
    'sftp:user:secret@host:/x',
    's3://key:secret@b',
  ]) {
    assert.throws(
      () => placeOf(name),
      (error: Error) => error.name === 'BackupError' && !error.message.includes('secret'),
      name,
    );
  }
  for (const name of ["s3:https://h/b'x", 'sftp:-oProxyCommand=x:/y', 'rclone:a b', 'sftp:host']) {
    assert.throws(() => placeOf(name), { name: 'BackupError' }, name);
  }
});
