import { cryptography } from '@lodge/access';
import assert from 'node:assert/strict';
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { openStore } from '@lodge/store';
import type { Store } from '@lodge/store';
import { findLink } from '@lodge/store/accounts';
import { execute, testDatabase } from '@lodge/testkit/postgres';
import type { TestDatabase } from '@lodge/testkit/postgres';
import { ensureFirstKey } from './first-key.ts';
import { silent } from '../../../../packages/testkit/src/plane/accounts.ts';
import { createOwnerLink, isOpenLink } from '../../../../packages/engine/src/accounts/operator-links.ts';
import { ensureOwnerLink } from './owner-link.ts';
import { hashToken, makeToken } from '../../../../packages/access/src/tokens.ts';

let database: TestDatabase;
let store: Store;
let folder: string;
const ends: (() => Promise<void>)[] = [];
const keeper = await testDatabase();
after(async () => {
  for (const end of ends) await end();
  await keeper.drop();
});

beforeEach(async () => {
  database = await testDatabase();
  store = await openStore({ ...database, log: silent });
  folder = await mkdtemp(join(tmpdir(), 'lodge-owner-link-'));
  const [ownDatabase, ownStore, ownFolder] = [database, store, folder];
  ends.push(async () => {
    await ownStore.close();
    await ownDatabase.drop();
    await rm(ownFolder, { recursive: true });
  });
});

const tokenIn = (url: string): string => /#token=([\w-]{43})$/.exec(url)![1]!;
const firstKey = async (): Promise<void> => (await ensureFirstKey(store.database, join(folder, 'key')))!.shown();

test('of processes that start at once one gets a link, which opens the account, and no later start gets one', async () => {
  await firstKey();
  const links = await Promise.all(
    Array.from({ length: 8 }, (_, n) => ensureOwnerLink(store.database, join(folder, `at-once-${n}`))),
  );
  const [link, ...more] = links.filter((each) => each !== null);
  assert.ok(link);
  assert.deepEqual(more, []);
  const url = link.url('https://lodge.example.com');
  assert.ok(url.startsWith('https://lodge.example.com/account/setup#token='), 'the token is in the fragment');
  assert.equal((await store.database.repeatable((db) => findLink(db, hashToken(tokenIn(url)))))?.kind, 'owner');
  await link.shown();
  assert.equal(await ensureOwnerLink(store.database, join(folder, 'later')), null);
  assert.deepEqual(await readdir(folder), []);
});

test('a link that took effect and was never shown is shown by the next start, one that did not is forgotten', async () => {
  await firstKey();
  const file = join(folder, 'owner-link');
  const first = await ensureOwnerLink(store.database, file);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const again = await ensureOwnerLink(store.database, file);
  assert.equal(again?.url(''), first!.url(''));
  await again.shown();
  await writeFile(file, makeToken());
  assert.equal(await ensureOwnerLink(store.database, file), null);
  assert.deepEqual(await readdir(folder), []);
});

test('killed before it took effect, the next start gives the same link; killed while writing, a new one', async () => {
  await firstKey();
  const file = join(folder, 'owner-link');
  const token = makeToken();
  await writeFile(file, token.slice(0, 20));
  const failing = { ...store.database, transaction: () => Promise.reject(new Error('killed')) };
  await assert.rejects(ensureOwnerLink(failing, file), /killed/);
  const written = await readFile(file, 'utf8');
  assert.match(written, /^[\w-]{43}$/);
  const link = await ensureOwnerLink(store.database, file);
  assert.equal(tokenIn(link!.url('')), written);
});

test('a deployment made before there were accounts gets a link at its next start', async () => {
  await firstKey();
  await execute(database.connectionString, `update accounts set created_at = now() - interval '90 days'`);
  assert.ok(await ensureOwnerLink(store.database, join(folder, 'owner-link')));
});

test('without an account there is no link, and the operator’s later one ends the first', async () => {
  assert.equal(await ensureOwnerLink(store.database, join(folder, 'none')), null);
  await assert.rejects(createOwnerLink(store.database, cryptography.tokens), /no account yet/);
  await firstKey();
  const first = await ensureOwnerLink(store.database, join(folder, 'owner-link'));
  const token = await createOwnerLink(store.database, cryptography.tokens);
  assert.equal(await isOpenLink(store.database, hashToken(tokenIn(first!.url('')))), false);
  assert.ok(await isOpenLink(store.database, hashToken(token)));
  await first!.shown();
});
