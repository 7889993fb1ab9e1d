import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { deleteConnection, upsertConnection } from '../connections/index.ts';
import { agentWithChannel } from '../testing/channel-fixture.ts';
import { firstAccount } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';

const { store } = await testStore();
const accountId = await firstAccount(store.database);
const browser = randomBytes(32);
/** Begins a session that the browser agreed to. */
async function begin(given: ReturnType<typeof session>, ttlMs: number) {
  const begun = await store.oauthSessions.begin(given, ttlMs);
  await store.oauthSessions.agree(given.pageHash, browser);
  return begun;
}
const session = (agentId: string) => ({
  id: randomUUID(),
  accountId,
  agentId,
  connection: null as string | null,
  stateHash: randomBytes(32),
  pageHash: randomBytes(32),
  sealedVerifier: 's',
  redirectUri: 'https://lodge.example/oauth/gmail/callback',
  returnUrl: null,
});

test('of two that come back with one state at once, one has the session', async () => {
  const given = session(await agentWithChannel(store, accountId));
  const { expiresAt } = await begin(given, 60_000);
  const taken = await Promise.all([1, 2, 3].map(() => store.oauthSessions.take(given.stateHash, 'mailbox', browser)));
  const found = taken.filter((each) => each !== null);
  assert.equal(found.length, 1);
  const { stateHash, pageHash, browserHash, ...rest } = found[0]!;
  const { stateHash: state, pageHash: page, ...others } = given;
  assert.deepEqual(rest, { ...others, expiresAt });
  assert.deepEqual(
    [stateHash, pageHash, browserHash].map((each) => Buffer.from(each!)),
    [state, page, browser],
  );
});

test('a session that has ended is not given, and of an agent only the newest are kept', async () => {
  const agentId = await agentWithChannel(store, accountId);
  const ended = session(agentId);
  await begin(ended, 20);
  await sleep(30);
  assert.equal(await store.oauthSessions.take(ended.stateHash, 'mailbox', browser), null);
  const all = Array.from({ length: 12 }, () => session(agentId));
  for (const each of all) {
    await begin(each, 60_000);
    await sleep(2);
  }
  const found = [];
  for (const each of all) found.push((await store.oauthSessions.take(each.stateHash, 'mailbox', browser)) !== null);
  assert.deepEqual(found, [false, false, ...Array.from({ length: 10 }, () => true)]);
});

test('a session is of a mailbox or of a connection: one kind takes no place of the other, and no state opens both', async () => {
  const agentId = await agentWithChannel(store, accountId);
  const place = { accountId, agentId, name: 'tools' };
  const own = { kind: 'mcp', url: 'https://mcp.example.com', allow: '[]', enabled: true } as const;
  await store.database.transaction((trx) => upsertConnection(trx, { ...place, ...own }));
  const mailbox = session(agentId);
  await begin(mailbox, 60_000);
  const all = Array.from({ length: 11 }, () => ({
    ...session(agentId),
    pageHash: randomBytes(32),
    connection: 'tools',
  }));
  for (const each of all) await begin(each, 60_000);
  const [last] = all.slice(-1);
  assert.equal(await store.oauthSessions.take(last!.stateHash, 'mailbox', browser), null);
  assert.equal((await store.oauthSessions.take(last!.stateHash, 'connection', browser))?.connection, 'tools');
  assert.equal(await store.oauthSessions.take(mailbox.stateHash, 'connection', browser), null);
  assert.equal((await store.oauthSessions.take(mailbox.stateHash, 'mailbox', browser))?.connection, null);
  const [first] = all.slice(1);
  await store.database.transaction((trx) => deleteConnection(trx, place));
  assert.equal(
    await store.oauthSessions.take(first!.stateHash, 'connection', browser),
    null,
    'it goes with its connection',
  );
});

test('a session is of the browser that agreed first, and no other one agrees, refuses or takes it', async () => {
  const given = session(await agentWithChannel(store, accountId));
  const [first, second] = [randomBytes(32), randomBytes(32)];
  const { oauthSessions } = store;
  await oauthSessions.begin(given, 60_000);
  assert.equal(await oauthSessions.take(given.stateHash, 'mailbox', first), null, 'nobody has agreed');
  const agreed = await Promise.all([first, second].map((each) => oauthSessions.agree(given.pageHash, each)));
  assert.equal(agreed.filter((each) => each !== null).length, 1);
  const [own, other] = agreed[0] === null ? [second, first] : [first, second];
  assert.notEqual(await oauthSessions.agree(given.pageHash, own), null, 'asked again after a reply was lost');
  await oauthSessions.refuse(given.pageHash, other);
  assert.equal(await oauthSessions.take(given.stateHash, 'mailbox', other), null);
  assert.notEqual(await oauthSessions.find(given.pageHash), null);
  await oauthSessions.refuse(given.pageHash, own);
  assert.equal(await oauthSessions.find(given.pageHash), null);
});
