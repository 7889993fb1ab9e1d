/** Consents that browsers give, on a real database. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createSecretBox } from '@lodge/access';
import { Refusal } from '@lodge/domain';
import { deleteConnection, upsertConnection } from '@lodge/store/connections';
import type { ConsentKind } from '@lodge/store/channels';
import { execute } from '@lodge/testkit/postgres';
import { admitAll, firstAccount, newAgent } from '../../../store/src/testing/fixture.ts';
import { testStore } from '../../../store/src/testing/test-store.ts';
import { createConsentPages } from './pages.ts';
import { keepConsent, newConsent, takeConsent } from './sessions.ts';

const { database: at, store } = await testStore();
const { database } = store;
const accountId = await firstAccount(database);
const deps = { database, secrets: createSecretBox(randomBytes(32)), agents: { get: async () => ({ name: 'Ada' }) } };
const pages = createConsentPages(deps);
const browser = 'the first browser';

const agent = async (): Promise<string> => (await store.agents.create(newAgent(accountId), admitAll)).id;
const gone = (error: unknown): boolean => error instanceof Refusal && error.code === 'link_not_valid';

async function begin(agentId: string, connection: string | null = null) {
  const { id, state } = newConsent();
  const to = { id, accountId, agentId, connection, redirectUri: 'https://lodge.example/callback', returnUrl: null };
  const gift = { kind: 'mailbox', address: null } as const;
  return keepConsent(deps, to, { state, secret: 'verifier', authorizationUrl: 'https://id.example/authorize', gift });
}

/** Begins a consent that the browser agrees to. */
async function agreed(...to: Parameters<typeof begin>) {
  const begun = await begin(...to);
  assert.equal(await pages.agree(begun.pageToken, browser), 'https://id.example/authorize');
  return begun;
}

const take = (state: string, kind: ConsentKind = 'mailbox', by: string | null = browser) =>
  takeConsent(deps, { state, browser: by }, kind);

test('of those that come back with one state at once, one has the consent', async () => {
  const { id, state, expiresAt } = await agreed(await agent());
  const taken = await Promise.allSettled([1, 2, 3].map(() => take(state)));
  const [found, ...more] = taken.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  assert.deepEqual([more, found!.secret], [[], 'verifier']);
  const { session } = found!;
  assert.deepEqual([session.id, session.connection, session.expiresAt], [id, null, expiresAt]);
});

test('a consent whose time is over is not given, and of an agent only the newest ten are kept', async () => {
  const agentId = await agent();
  const ended = await agreed(agentId);
  await execute(at.connectionString, `update channel_oauth_sessions set expires_at = now() where id = '${ended.id}'`);
  await assert.rejects(take(ended.state), gone);
  const all = [];
  for (let n = 0; n < 12; n += 1) all.push(await agreed(agentId));
  const found = [];
  for (const { state } of all)
    found.push(
      await take(state).then(
        () => true,
        () => false,
      ),
    );
  assert.deepEqual(found, [false, false, ...Array.from({ length: 10 }, () => true)]);
});

test('a consent is of a mailbox or of a connection: one kind takes no place of the other, and no state opens both', async () => {
  const agentId = await agent();
  const place = { accountId, agentId, name: 'tools' };
  const own = { kind: 'mcp', url: 'https://mcp.example.com', allow: '[]', enabled: true } as const;
  await database.transaction((trx) => upsertConnection(trx, { ...place, ...own }));
  const mailbox = await agreed(agentId);
  const all = [];
  for (let n = 0; n < 11; n += 1) all.push(await agreed(agentId, 'tools'));
  const [last] = all.slice(-1);
  await assert.rejects(take(last!.state), gone);
  assert.equal((await take(last!.state, 'connection')).session.connection, 'tools');
  await assert.rejects(take(mailbox.state, 'connection'), gone);
  assert.equal((await take(mailbox.state)).session.connection, null);
  await database.transaction((trx) => deleteConnection(trx, place));
  await assert.rejects(take(all[1]!.state, 'connection'), gone, 'it goes with its connection');
});

test('a consent is of the browser that agreed first, and no other one agrees, refuses or takes it', async () => {
  const { state, pageToken } = await begin(await agent());
  const other = 'another browser';
  await assert.rejects(take(state, 'mailbox', null), gone);
  await assert.rejects(take(state), gone, 'nobody has agreed');
  const race = await Promise.allSettled([browser, other].map((each) => pages.agree(pageToken, each)));
  assert.equal(race.filter(({ status }) => status === 'fulfilled').length, 1);
  const [own, late] = race[0]!.status === 'fulfilled' ? [browser, other] : [other, browser];
  await pages.agree(pageToken, own);
  await pages.refuse(pageToken, late);
  await assert.rejects(take(state, 'mailbox', late), gone);
  assert.equal((await pages.look(pageToken, () => own)).agentName, 'Ada');
  await assert.rejects(
    pages.look(pageToken, () => late),
    gone,
  );
  await pages.refuse(pageToken, own);
  await assert.rejects(
    pages.look(pageToken, () => own),
    gone,
  );
});
