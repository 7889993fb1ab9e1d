import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '@lodge/domain';
import { connectionClientSecretContext, connectionGrantContext } from '@lodge/ports';
import type { ConnectionOAuth, NewGrant } from '@lodge/ports';
import { insertGrant } from '@lodge/store/connections';
import type { Consented } from '@lodge/store/connections';
import { execute } from '@lodge/testkit/postgres';
import type { ConnectionInput } from './input.ts';
import { testConnections } from './test-connections.ts';

const { store, connections, directory, grants, accountId, another, agent, connectionString } = await testConnections();
const url = 'https://mcp.example.com/mcp';
const found = { authorizationUrl: null, tokenUrl: null, clientAuth: null };
const auth = { clientId: 'a', clientSecret: 'a secret of some length', scope: null, ...found };
const named = {
  authorizationUrl: 'https://as.example.com/authorize?access_type=offline',
  tokenUrl: 'https://as.example.com/token',
  clientAuth: null,
};
const ofService = { ...auth, ...named };
const service = { kind: 'http', allow: [{ methods: ['GET'], paths: ['/a'] }] } as const;
const grant = (sealed: string, more: Partial<NewGrant> = {}): NewGrant => ({
  sealed,
  scope: 'a b',
  expiresInMs: 60_000,
  renewInMs: 50_000,
  ...more,
});
const connect = (to: Consented, made: NewGrant) => store.database.transaction((trx) => insertGrant(trx, to, made));
const refusedWith = (words: RegExp) => (error: unknown) =>
  error instanceof Refusal && error.code === 'invalid_request' && words.test(error.message);

async function agentWithGrant() {
  const agentId = await agent();
  const put = (given: Partial<ConnectionInput> = {}) =>
    connections.put(accountId, agentId, {
      name: 'c',
      kind: 'mcp',
      url,
      allow: undefined,
      tools: null,
      enabled: true,
      headers: undefined,
      auth: undefined,
      ...given,
    });
  await put({ auth });
  const issuer = 'https://as.example.com';
  const to = { agentId, connection: 'c', url, hosts: [], clientId: 'a', issuer, endpoints: null };
  assert.ok(await connect(to, grant('first')));
  const now = async (): Promise<ConnectionOAuth> => (await directory.usableOne(agentId, 'c'))!.oauth!;
  const ref = async () => ({ agentId, connection: 'c', version: (await now()).version });
  return { agentId, put, to, now, ref };
}

test('of many that want to renew a grant at once, in two processes, one does', async () => {
  const { ref, now } = await agentWithGrant();
  const other = (await another()).grants;
  const of = await ref();
  const claims = await Promise.all(Array.from({ length: 10 }, (_, n) => [grants, other][n % 2]!.claim(of, 5_000)));
  assert.deepEqual(claims.toSorted(), [...Array.from({ length: 9 }, () => 'busy'), 'yours']);
  assert.ok(await grants.keep(of, grant('second')));
  assert.equal(await other.claim(of, 5_000), 'moved');
  assert.equal(await grants.keep(of, grant('late')), false, 'an answer that comes late is in the place of nothing');
  const { grant: stored, status } = await now();
  assert.deepEqual([stored?.sealed, stored?.scope, stored?.isDue, status], ['second', 'a b', false, 'connected']);
  assert.equal(await grants.claim(await ref(), 5_000), 'yours', 'the new one is claimed by nobody');
});

test('a claim ends by itself, and who held it may still keep what came', async () => {
  const { ref } = await agentWithGrant();
  const of = await ref();
  assert.equal(await grants.claim(of, 50), 'yours');
  await sleep(80);
  assert.equal(await grants.claim(of, 5_000), 'yours');
  assert.equal(await grants.keep(of, grant('second')), true);
});

test('what could not be renewed waits a while, and stays', async () => {
  const { ref, now } = await agentWithGrant();
  const of = await ref();
  await grants.claim(of, 5_000);
  await grants.fail(of, 'away', 100);
  assert.equal(await grants.claim(of, 5_000), 'later');
  assert.deepEqual(
    [(await now()).status, (await now()).reason, (await now()).grant?.sealed],
    ['failed', 'away', 'first'],
  );
  await sleep(130);
  assert.equal(await grants.claim(of, 5_000), 'yours');
  await grants.keep(of, grant('second'));
  assert.deepEqual([(await now()).status, (await now()).reason], ['connected', null]);
});

test('a grant that is lost is lost once, with one event and one line', async () => {
  const { ref, now, agentId } = await agentWithGrant();
  const of = await ref();
  await Promise.all([1, 2, 3].map(() => grants.lose(of, 'taken back')));
  assert.deepEqual([(await now()).status, (await now()).reason, (await now()).grant], ['needed', 'taken back', null]);
  const events = await execute(
    connectionString,
    `select data from events where agent_id = '${agentId}' and type = 'connection.consent_needed'`,
  );
  assert.deepEqual(events, [{ data: { connection: 'c', message: 'taken back' } }]);
  assert.equal(await grants.claim(await ref(), 5_000), 'moved');
});

test('what was granted goes with the URL, the client and the scope that it was granted for', async () => {
  for (const [given, stays] of [
    [{ enabled: false }, true],
    [{ tools: ['a'] }, true],
    [{ auth: { ...auth, clientSecret: undefined } }, true],
    [{ auth: { ...auth, clientSecret: null } }, true],
    [{ auth: { ...auth, clientId: 'b' } }, false],
    [{ auth: { ...auth, scope: 'more' } }, false],
    [{ url: 'https://mcp.example.com/other', auth }, false],
  ] as const) {
    const { put, ref, agentId, to } = await agentWithGrant();
    const of = await ref();
    const row = await put(given);
    assert.equal(row.oauth?.grant !== null, stays, JSON.stringify(given));
    if (stays) continue;
    assert.equal(row.oauth!.status, 'needed');
    assert.equal(await grants.keep(of, grant('late')), false);
    if ('url' in given || given.auth.clientId !== 'a') assert.equal(await connect(to, grant('late')), false);
    assert.equal((await connections.find(accountId, agentId, 'c')).oauth!.grant, null);
  }
});

test('a secret of a client goes to no other client and no other URL', async () => {
  const { put } = await agentWithGrant();
  await assert.rejects(put({ url: 'https://evil.example.com' }), refusedWith(/^auth must be given again/));
  const moved = await put({ url: 'https://evil.example.com', auth: { ...auth, clientSecret: undefined } });
  assert.equal(moved.oauth!.clientSecret, null);
  await put({ url, auth });
  const other = await put({ auth: { ...auth, clientId: 'b', clientSecret: undefined } });
  assert.equal(other.oauth!.clientSecret, null);
});

test('a client is of the authorization server that took it first, until it is given again', async () => {
  const { put, now } = await agentWithGrant();
  const issuer = 'https://as.example.com';
  assert.equal((await now()).clientIssuer, issuer);
  await put({ auth: { ...auth, clientSecret: undefined, scope: 'more' } });
  assert.deepEqual([(await now()).clientIssuer, (await now()).grant], [issuer, null]);
  await put({ auth });
  assert.equal((await now()).clientIssuer, null);
});

test('without OAuth, and as another kind, nothing of it is left; a header Authorization is refused beside it', async () => {
  const { put, agentId } = await agentWithGrant();
  const headers = { authorization: 's' };
  await assert.rejects(put({ headers }), refusedWith(/^auth and a header Authorization/));
  const row = await put({ headers, auth: null });
  assert.equal(row.oauth, null);
  await assert.rejects(put({ auth }), refusedWith(/^auth and a header Authorization/));
  await put({ headers: {}, auth });
  await put({ kind: 'http', headers: {}, allow: [{ methods: ['GET'], paths: ['/a'] }] });
  assert.deepEqual(await execute(connectionString, `select * from connection_oauth where agent_id = '${agentId}'`), []);
});

test('what was granted for a service goes with its authorization server, whose client secret goes nowhere else', async () => {
  const elsewhere = 'https://evil.example.com/token';
  for (const [given, stays, keepsSecret] of [
    [{}, true, true],
    [{ auth: { ...ofService, clientSecret: undefined } }, true, true],
    [{ auth: { ...ofService, clientSecret: undefined, tokenUrl: elsewhere } }, false, false],
    [{ auth: { ...ofService, clientSecret: undefined, clientAuth: 'client_secret_post' } }, false, true],
    [{ auth: { ...ofService, clientSecret: undefined, authorizationUrl: 'https://b.example.com' } }, false, true],
    [{ auth: { ...ofService, clientSecret: undefined, clientId: 'b' } }, false, false],
  ] as const) {
    const { put, to, ref } = await agentWithGrant();
    const ours = { ...to, endpoints: named };
    assert.equal(await connect(ours, grant('of another kind')), false);
    const first = await put({ ...service, auth: ofService });
    assert.deepEqual([first.oauth?.endpoints, first.oauth?.grant], [named, null], 'nothing of the other kind stays');
    assert.equal(await connect(to, grant('of no server')), false);
    assert.ok(await connect(ours, grant('first')));
    const of = await ref();
    const row = await put({ ...service, ...given });
    const title = JSON.stringify(given);
    assert.deepEqual([row.oauth!.grant !== null, row.oauth!.clientSecret !== null], [stays, keepsSecret], title);
    if (stays) continue;
    assert.equal(await grants.keep(of, grant('late')), false, title);
    assert.equal(await connect(ours, grant('late')), false, title);
  }
  const { put } = await agentWithGrant();
  await put({ ...service, auth: ofService });
  assert.equal((await put({})).oauth, null, 'nor does it stay with a server of tools');
});

test('what was granted for hosts goes when a host is added, also while a consent is under way, and has its header to itself', async () => {
  const { put, to } = await agentWithGrant();
  const [one, two] = ['api.example.com', 'www.example.com'] as const;
  const allow = [{ methods: ['GET'], paths: ['/*'] }] as const;
  const host = { kind: 'host', url: undefined, allow, headers: {}, hosts: [one, two], secrets: {} } as const;
  const ours = { ...to, url: `https://${one}`, hosts: [one, two], endpoints: named };
  await put({ ...host, auth: ofService });
  assert.ok(await connect(ours, grant('first')));
  assert.notEqual((await put({ ...host, hosts: [one] })).oauth!.grant, null, 'a host fewer is no other place');
  await assert.rejects(put(host), refusedWith(/^auth must be given again with further hosts/));
  const again = { ...ofService, clientSecret: undefined };
  const added = await put({ ...host, auth: again });
  assert.deepEqual([added.oauth!.grant, added.oauth!.status, added.oauth!.clientSecret], [null, 'needed', null]);
  assert.equal(await connect({ ...ours, hosts: [one] }, grant('late')), false);
  const secret = { value: 'a secret of some length', in: ['Authorization'] };
  await assert.rejects(put({ ...host, secrets: { TOKEN: secret } }), refusedWith(/^auth and secrets\.TOKEN/));
  await put({ ...host, secrets: { TOKEN: { ...secret, in: ['x-key'] } } });
});

test('OAuth of a service names its authorization server and a client, and that of a server of tools neither', async () => {
  const { put } = await agentWithGrant();
  for (const [given, field] of [
    [{ clientId: null, clientSecret: undefined }, 'client_id'],
    [{ authorizationUrl: null }, 'authorization_url'],
    [{ tokenUrl: null }, 'token_url'],
    [{ tokenUrl: 'http://as.example.com/token' }, 'token_url'],
    [{ tokenUrl: 'https://u:p@as.example.com/token' }, 'token_url'],
    [{ tokenUrl: 'https://as.example.com/token#x' }, 'token_url'],
    [{ tokenUrl: `https://as.example.com/${'x'.repeat(2_048)}` }, 'token_url'],
    [{ authorizationUrl: 'javascript:alert(1)' }, 'authorization_url'],
    [{ authorizationUrl: 'https://as.example.com/?state=x' }, 'authorization_url'],
    [{ authorizationUrl: 'https://as.example.com/?a=b&request_uri=x' }, 'authorization_url'],
  ] as const) {
    const words = refusedWith(new RegExp(`^auth\\.${field} `));
    await assert.rejects(put({ ...service, auth: { ...ofService, ...given } }), words, JSON.stringify(given));
  }
  for (const [field, given] of [
    ['authorization_url', { authorizationUrl: named.authorizationUrl }],
    ['token_url', { tokenUrl: named.tokenUrl }],
    ['client_auth', { clientAuth: 'client_secret_post' }],
  ] as const) {
    await assert.rejects(put({ auth: { ...auth, ...given } }), refusedWith(new RegExp(`^auth\\.${field} is not for`)));
  }
});

test('that a server asks for OAuth is known until the connection is put again', async () => {
  const { put, agentId } = await agentWithGrant();
  const row = await put({ auth: null });
  const asks = async () => (await connections.find(accountId, agentId, 'c')).asksOauth;
  await grants.asked({ agentId, connection: 'c', revision: 'another' });
  assert.equal(await asks(), false);
  await grants.asked({ agentId, connection: 'c', revision: row.revision });
  assert.equal(await asks(), true);
  await put({ enabled: false });
  assert.equal(await asks(), false);
});

test('a change of the master key finds grants and secrets of clients', async () => {
  const { agentId, now } = await agentWithGrant();
  const found = (await store.secrets.notUnder('new.', 1_000)).filter(({ id }) => id[0] === agentId);
  assert.deepEqual(
    found.map(({ place, context }) => [place, context]),
    [
      ['connection_oauth.client_secret_sealed', connectionClientSecretContext(agentId, 'c')],
      ['connection_oauth.grant_sealed', connectionGrantContext(agentId, 'c')],
    ],
  );
  for (const each of found) await store.secrets.replace(each, 'new.sealed');
  assert.deepEqual([(await now()).grant?.sealed, (await now()).clientSecret?.sealed], ['new.sealed', 'new.sealed']);
});
