import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { agentWithChannel } from '../testing/channel-fixture.ts';
import { firstAccount } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';

const { store } = await testStore();
const accountId = await firstAccount(store.apiKeys);
const session = (agentId: string) => ({
  id: randomUUID(),
  accountId,
  agentId,
  connection: null as string | null,
  stateHash: randomBytes(32),
  sealedVerifier: 's',
  redirectUri: 'https://lodge.example/oauth/gmail/callback',
  returnUrl: null,
});

test('of two that come back with one state at once, one has the session', async () => {
  const given = session(await agentWithChannel(store, accountId));
  const { expiresAt } = await store.oauthSessions.begin(given, 60_000);
  const taken = await Promise.all([1, 2, 3].map(() => store.oauthSessions.take(given.stateHash, 'mailbox')));
  const found = taken.filter((each) => each !== null);
  assert.equal(found.length, 1);
  assert.deepEqual({ ...found[0], stateHash: Buffer.from(found[0]!.stateHash) }, { ...given, expiresAt });
});

test('a session that has ended is not given, and of an agent only the newest are kept', async () => {
  const agentId = await agentWithChannel(store, accountId);
  const ended = session(agentId);
  await store.oauthSessions.begin(ended, 20);
  await sleep(30);
  assert.equal(await store.oauthSessions.take(ended.stateHash, 'mailbox'), null);
  const all = Array.from({ length: 12 }, () => session(agentId));
  for (const each of all) {
    await store.oauthSessions.begin(each, 60_000);
    await sleep(2);
  }
  const found = [];
  for (const each of all) found.push((await store.oauthSessions.take(each.stateHash, 'mailbox')) !== null);
  assert.deepEqual(found, [false, false, ...Array.from({ length: 10 }, () => true)]);
});

test('a session is of a mailbox or of a connection: one kind takes no place of the other, and no state opens both', async () => {
  const agentId = await agentWithChannel(store, accountId);
  const change = { accountId, agentId, name: 'tools', kind: 'mcp', url: 'https://mcp.example.com', allow: [] } as const;
  await store.connections.put({ ...change, tools: null, enabled: true, headers: [], auth: undefined }, 3);
  const mailbox = session(agentId);
  await store.oauthSessions.begin(mailbox, 60_000);
  const all = Array.from({ length: 11 }, () => ({ ...session(agentId), connection: 'tools' }));
  for (const each of all) await store.oauthSessions.begin(each, 60_000);
  const [last] = all.slice(-1);
  assert.equal(await store.oauthSessions.take(last!.stateHash, 'mailbox'), null);
  assert.equal((await store.oauthSessions.take(last!.stateHash, 'connection'))?.connection, 'tools');
  assert.equal(await store.oauthSessions.take(mailbox.stateHash, 'connection'), null);
  assert.equal((await store.oauthSessions.take(mailbox.stateHash, 'mailbox'))?.connection, null);
  const [first] = all.slice(1);
  await store.connections.remove(accountId, agentId, 'tools');
  assert.equal(await store.oauthSessions.take(first!.stateHash, 'connection'), null, 'it goes with its connection');
});
