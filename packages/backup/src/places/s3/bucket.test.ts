/** Backups in a bucket of a real storage, and what becomes of them when the way to it or its answers are bad. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { CrookedDoor, ObjectStorage } from '@lodge/testkit/object-storage';
import { openRepository } from '../../repository.ts';
import type { Repository } from '../../repository.ts';
import { S3Place } from './bucket.ts';
import { bucketOf } from './settings.ts';
import type { S3Pace, S3Settings } from './settings.ts';

const key = { masterKey: randomBytes(32), keyId: '01234567' };
const pace: Partial<S3Pace> = { attempts: 3, firstWaitMs: 5, freshMs: 0, pageEntries: 2 };
const bucket = 'backups';
let storage: ObjectStorage;
let door: CrookedDoor;
let prefix: string;
let tests = 0;

before(
  async () => {
    storage = await ObjectStorage.start();
    door = await CrookedDoor.open(storage.endpoint);
    await storage.makeBucket(bucket);
  },
  { timeout: 15 * 60_000 },
);
after(async () => {
  await door?.close();
  await storage?.stop();
});
beforeEach(() => {
  tests += 1;
  prefix = `test/${tests}`;
});
afterEach(() => door.straighten());

function placeOf(changes: Partial<S3Settings> = {}): S3Place {
  const { endpoint } = door;
  const credentials = storage.key;
  return new S3Place({ endpoint, region: 'us-east-1', bucket, prefix, credentials, pace, ...changes });
}

const open = (changes: Partial<S3Settings> = {}): Promise<Repository> =>
  openRepository(placeOf(changes), { ...key, create: true });

/** Keys in the bucket, as the storage itself has them. */
async function kept(): Promise<string[]> {
  const text = await (await storage.send('GET', `${bucket}?list-type=2&prefix=${encodeURIComponent(prefix)}`)).text();
  return [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, name]) => name!.slice(prefix.length + 1));
}

async function refused(work: Promise<unknown>, ...wanted: readonly RegExp[]): Promise<void> {
  await assert.rejects(work, (error: Error) => {
    assert.match(error.name, /^BackupError$/, error.stack);
    for (const each of wanted) assert.match(error.message, each);
    assert.ok(!error.message.includes(storage.key.secretAccessKey));
    return true;
  });
}

const isOf = (method: string, part: string, { method: asked, url }: IncomingMessage): boolean =>
  asked === method && url!.includes(part);

test('what was put comes back, is written once, and goes when no backup needs it', async () => {
  const repository = await open();
  const wanted: string[] = [];
  const names: string[] = [];
  for (const day of [1, 2, 3, 4, 5]) {
    wanted.push(await repository.put(Buffer.from(`secret of day ${day}`)));
    names.push(await repository.commit({ day }, new Date(2026, 0, day)));
  }
  assert.deepEqual(await repository.backups(), names, 'over more pages than one');
  const text = await (
    await storage.send('GET', `${bucket}/${prefix}/${key.keyId}/chunks/${wanted[0]!.slice(0, 2)}/${wanted[0]}`)
  ).text();
  assert.ok(text.length > 0 && !text.includes('secret'));
  const next = await open();
  await next.trust([wanted]);
  for (const day of [1, 2, 3, 4, 5]) await next.put(Buffer.from(`secret of day ${day}`));
  assert.equal(next.written.chunks, 0);
  assert.deepEqual(await next.forget(2), names.slice(0, 3));
  await next.sweep([wanted.slice(3)]);
  assert.equal(next.listsLate, false);
  assert.deepEqual(await next.backups(), names.slice(3));
  assert.deepEqual(await next.list(names[4]!), { day: 5 });
  assert.equal((await next.get(wanted[4]!)).toString(), 'secret of day 5');
  await refused(next.get(wanted[0]!), new RegExp(`^s3://backups/${prefix}/.*${wanted[0]} is missing`));
  assert.equal((await kept()).length, 4, 'two lists and two chunks');
  const reader = await openRepository(placeOf(), { ...key, create: false });
  assert.deepEqual(await reader.backups(), names.slice(3));
  await assert.rejects(
    openRepository(placeOf(), { masterKey: randomBytes(32), keyId: '89abcdef', create: false }),
    /made under the master key 01234567, and the one given is 89abcdef/,
  );
  await assert.rejects(openRepository(placeOf({ prefix: 'none' }), { ...key, create: false }), /no backup in s3:/);
});

test('a backup as large as an agent’s disk goes and comes whole', async () => {
  const repository = await open();
  const chunks = Array.from({ length: 24 }, () => randomBytes(512 * 1024));
  const names = await Promise.all(chunks.map((bytes) => repository.put(bytes)));
  for (const [at, name] of names.entries()) assert.ok((await repository.get(name)).equals(chunks[at]!));
});

test('a wrong bucket, key, secret, endpoint and right are told in sentences, and nothing is kept', async () => {
  const closed = await CrookedDoor.open(storage.endpoint);
  const nobody = closed.endpoint;
  await closed.close();
  const wrong = { ...storage.key, secretAccessKey: 'another' };
  await refused(open({ bucket: 'nobodys' }), /There is no bucket nobodys at http/, /make it first/);
  await refused(open({ credentials: { ...storage.key, accessKeyId: 'AKOTHER' } }), /does not take the access key/);
  await refused(open({ credentials: wrong }), /refuses the signature .*the secret key does not belong/);
  await refused(open({ endpoint: nobody }), /could not be asked to list .*: ECONNREFUSED/);
  await refused(open({ endpoint: door.endpoint.replace('http', 'https') }), /could not be asked/);
  const reader = await open({ credentials: storage.readingKey });
  await refused(reader.put(randomBytes(10)), /The access key may not write s3:\/\/backups\/test/);
  assert.deepEqual(await kept(), []);
});

test('a connection that ends in the middle of an object is tried again, and leaves no half of one', async () => {
  const bytes = randomBytes(300_000);
  let cuts = 1;
  const cutWrites = (req: IncomingMessage, res: ServerResponse): boolean => {
    if (!isOf('PUT', 'chunks', req) || cuts === 0) return false;
    cuts -= 1;
    req.once('data', () => res.destroy());
    return true;
  };
  door.spoil = cutWrites;
  const repository = await open();
  const name = await repository.put(bytes);
  assert.ok((await repository.get(name)).equals(bytes));
  cuts = Infinity;
  const lost = open().then((next) => next.put(randomBytes(300_000)));
  await refused(lost, /could not be asked to write s3:.*: the connection ended/);
  assert.equal((await kept()).length, 1, 'the whole one alone');
  let ends = 1;
  door.spoil = (req, res) => {
    if (!isOf('GET', name, req) || ends === 0) return false;
    ends -= 1;
    res.writeHead(200, { 'content-length': 300_000 });
    res.write(randomBytes(1000), () => res.destroy());
    return true;
  };
  assert.ok((await repository.get(name)).equals(bytes));
  ends = Infinity;
  await refused(repository.get(name), /could not be asked to read/);
  door.straighten();
  const next = await open();
  await next.put(bytes);
  assert.equal(await next.commit({ fine: true }, new Date()), (await next.backups())[0], 'the next one is whole');
});

test('a storage that is full or busy is told apart: the one is said at once, the other is asked again', async () => {
  const repository = await open();
  const first = await repository.commit({ first: true }, new Date());
  const answer = (status: number, code: string, times: number): void => {
    let left = times;
    door.spoil = (req, res) => {
      if (!isOf('PUT', 'chunks', req) || left === 0) return false;
      left -= 1;
      req.resume().once('end', () => res.writeHead(status).end(`<Error><Code>${code}</Code></Error>`));
      return true;
    };
  };
  answer(507, 'XMinioStorageFull', Infinity);
  door.asked.length = 0;
  await refused(repository.put(randomBytes(10)), /has no room for s3:.*507 XMinioStorageFull/);
  assert.equal(door.asked.length, 1);
  answer(503, 'SlowDown', 2);
  await repository.put(randomBytes(10));
  answer(503, 'SlowDown', Infinity);
  await refused(repository.put(randomBytes(10)), /it answered 503 SlowDown/);
  answer(400, '../../<x>\u001b[31m', 1);
  await refused(repository.put(randomBytes(10)), /it answered 400\.$/);
  door.straighten();
  assert.deepEqual(await (await open()).backups(), [first]);
});

test('answers that lie are bounded and refused', async () => {
  const repository = await open();
  const name = await repository.put(randomBytes(50_000));
  const backup = await repository.commit({ fine: true }, new Date());
  door.rewrite = (req, body) => {
    const changed = Buffer.from(body);
    if (isOf('GET', name, req)) changed[100]! ^= 1;
    return changed;
  };
  await refused(repository.get(name), /is damaged: it is not what was written/);
  let sent = 0;
  door.rewrite = null;
  door.spoil = (req, res) => {
    const more = (): void => {
      while (!res.destroyed && res.write(Buffer.alloc(65_536))) sent += 65_536;
      if (!res.destroyed) res.once('drain', more);
    };
    if (isOf('GET', name, req) || isOf('GET', 'list-type', req)) more();
    return isOf('GET', name, req) || isOf('GET', 'list-type', req);
  };
  await refused(repository.get(name), /larger than anything/);
  await refused(repository.backups(), /larger than anything/);
  assert.ok(sent < 64 * 2 ** 20, `${sent} bytes were taken`);
  const listed = async (text: string): Promise<string[]> => {
    door.straighten();
    door.rewrite = (req, body) => (isOf('GET', 'list-type', req) ? Buffer.from(text) : body);
    return repository.backups();
  };
  const page = (inner: string): string => `<ListBucketResult>${inner}</ListBucketResult>`;
  await refused(listed('<html>Welcome</html>'), /is none that can be read/);
  await refused(listed(page('<IsTruncated>true</IsTruncated>')), /without saying where/);
  const round = '<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>';
  await refused(listed(page(round)), /has no end/);
  const lists = `${prefix}/${key.keyId}/backups/`;
  const entry = (path: string): string => `<Contents><Key>${path}</Key><Size>9</Size></Contents>`;
  const strange = [`${lists}../../x`, 'elsewhere', `${lists}${'a'.repeat(2000)}`, `${lists}${backup}`].map(entry);
  assert.deepEqual(await listed(page(strange.join(''))), [backup]);
  await refused(listed(page(entry('x').repeat(1001))), /too long a page/);
});

test('a redirect leads nowhere', async () => {
  const elsewhere = await CrookedDoor.open(storage.endpoint);
  door.spoil = (_req, res) => Boolean(res.writeHead(307, { location: `${elsewhere.endpoint}/${bucket}` }).end());
  await refused(open(), /not to be had at .* in the region us-east-1 \(307\)/);
  assert.deepEqual(elsewhere.asked, []);
  await elsewhere.close();
});

test('a storage that lists late loses no backup its chunks', async () => {
  const first = await open();
  const shared = await first.put(Buffer.from('shared'));
  const old = await first.commit({ at: 1 }, new Date(2026, 0, 1));
  const newer = await first.commit({ at: 2 }, new Date(2026, 0, 2));
  const without = (body: Buffer, name: string): Buffer => {
    const [before_, ...rest] = body.toString().split(`<Contents><Key>${prefix}/${key.keyId}/backups/${name}</Key>`);
    return Buffer.from(before_ + rest.map((each) => each.slice(each.indexOf('</Contents>') + 11)).join(''));
  };
  // The newest is not shown, but its name is known.
  door.rewrite = (req, body) => (isOf('GET', 'list-type', req) ? without(body, newer) : body);
  assert.deepEqual(await (await open()).backups(), [old]);
  const late = await open();
  await late.know(newer);
  await late.know('../../etc/passwd');
  assert.deepEqual(await late.backups(), [old, newer]);
  assert.ok(late.listsLate);
  await late.sweep([]);
  assert.equal((await late.get(shared)).toString(), 'shared');
  // One that was removed is shown still.
  door.straighten();
  const page = await (await storage.send('GET', `${bucket}?list-type=2&prefix=${encodeURIComponent(prefix)}`)).text();
  const next = await open();
  await next.forget(1);
  door.rewrite = (req, body) => (isOf('GET', 'backups%2F', req) ? Buffer.from(page) : body);
  const other = await open();
  assert.deepEqual(await other.backups(), [old, newer]);
  await assert.rejects(other.list(old), { name: 'BackupError', message: /There is no backup/ });
  assert.ok(other.listsLate);
  await other.sweep([]);
  assert.equal((await other.get(shared)).toString(), 'shared');
  // A list that was not kept is no backup.
  door.straighten();
  door.spoil = (req, res) =>
    isOf('PUT', 'backups', req) && Boolean(req.resume().once('end', () => res.writeHead(200).end()));
  await refused(other.commit({ at: 3 }, new Date()), /did not keep s3:.* as it was written/);
});

test('what was just written is not removed, and one process writes at a time', async () => {
  const repository = await open({ pace: { ...pace, freshMs: 3_600_000 } });
  const name = await repository.put(Buffer.from('of a backup that is being made'));
  await repository.sweep([]);
  await repository.get(name);
  await (await open()).sweep([]);
  await assert.rejects(repository.get(name), /is missing/);
  const unlock = await repository.lock();
  await refused((await open()).lock(), /Another process writes to s3:/);
  unlock();
});

test('an address is a bucket and a plain prefix', () => {
  assert.deepEqual(bucketOf('s3://backups/lodge/one/'), { bucket: 'backups', prefix: 'lodge/one' });
  assert.deepEqual(bucketOf('s3://backups'), { bucket: 'backups', prefix: '' });
  const bad = [
    's3://',
    's3://B',
    's3://a..b',
    's3://key:secret@backups',
    's3://backups/../x',
    's3://backups//x',
    's3://backups/a?b',
    `s3://backups/${'a'.repeat(101)}`,
  ];
  for (const each of bad) {
    assert.throws(
      () => bucketOf(each),
      (error: Error) => error.name === 'BackupError' && !error.message.includes('secret'),
      each,
    );
  }
});
