import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { cryptography } from '@lodge/access';
import { grantBounds } from '@lodge/domain';
import type { Scope } from '@lodge/domain';
import { keyByHash } from '@lodge/store/accounts';
import { execute } from '@lodge/testkit/postgres';
import { byOf, caller, refusalOf, testAccounts } from '../../../../testkit/src/plane/accounts.ts';
import { accountsOver } from '../../../../testkit/src/plane/wired-accounts.ts';
import type { SignedIn } from '../signed-in.ts';
import type { AuthorizationInput } from './consent.ts';
import type { GrantTokens } from './tokens.ts';

const world = await testAccounts();
after(() => world.close());
const { accounts, store } = world;
const { oauth } = accounts;

const redirectUri = 'http://127.0.0.1:4000/callback';
const resource = 'http://localhost/v1/mcp';
const client = await oauth.registerClient({ name: 'Cursor', redirectUris: ['http://127.0.0.1/callback'] }, '10.1.1.1');
const sql = (text: string) => execute<Record<string, unknown>>(world.database.connectionString, text);

/** A program with its verifier, and its request. */
function program(given: Partial<AuthorizationInput> = {}) {
  const codeVerifier = randomBytes(32).toString('base64url');
  const input: AuthorizationInput = {
    clientId: client.id,
    redirectUri,
    responseType: 'code',
    codeChallenge: createHash('sha256').update(codeVerifier).digest('base64url'),
    codeChallengeMethod: 'S256',
    scope: 'agents:read agents:chat',
    state: 'a state & more',
    resource,
    ...given,
  };
  return { codeVerifier, input };
}

const exchangeOf = (code: string, codeVerifier: string) => ({
  code,
  clientId: client.id,
  redirectUri,
  codeVerifier,
  resource: null,
});

async function consented(me: SignedIn, scopes: readonly Scope[] = ['agents:read', 'agents:chat']) {
  const { codeVerifier, input } = program();
  const answer = new URL(await oauth.decideAuthorization(me, input, scopes, caller()));
  return { answer, exchange: exchangeOf(answer.searchParams.get('code')!, codeVerifier) };
}

const granted = async (me: SignedIn): Promise<GrantTokens> =>
  oauth.exchangeCode((await consented(me)).exchange, caller());
const renewed = (refreshToken: string, rest: object = {}) =>
  oauth.refresh({ refreshToken, clientId: client.id, scope: null, resource: null, ...rest }, caller());
const keyOf = (access: string) => store.database.repeatable((db) => keyByHash(db, cryptography.apiKeys.hash(access)));
const isGood = async (access: string): Promise<boolean> => {
  return (await keyOf(access))?.revokedAt === null;
};
async function actionsOf(me: SignedIn): Promise<string[]> {
  const events = await store.events.audit({ accountId: me.account.id, limit: 100, direction: 'asc' });
  return events.map(({ action }) => action).slice(1);
}

test('a person narrows what a program gets; the answer names the state and the issuer, and its code is good once', async () => {
  const me = await world.member();
  const question = await oauth.authorizationQuestion(me, program().input);
  assert.deepEqual(question, {
    clientName: 'Cursor',
    clientHost: null,
    redirectHost: '127.0.0.1:4000',
    grantable: ['agents:read', 'agents:chat'],
  });
  const { answer, exchange } = await consented(me, ['agents:chat']);
  assert.equal(answer.origin + answer.pathname, redirectUri);
  assert.deepEqual(
    [answer.searchParams.get('state'), answer.searchParams.get('iss')],
    ['a state & more', 'http://localhost'],
  );
  const tokens = await oauth.exchangeCode(exchange, caller());
  assert.deepEqual([tokens.scopes, tokens.expiresInSeconds], [['agents:chat'], 3_600]);
  const key = await keyOf(tokens.access);
  assert.deepEqual([key!.accountId, key!.scopes], [me.account.id, ['agents:chat']]);
  assert.ok(Math.abs(key!.expiresAt!.getTime() - Date.now() - 3_600_000) < 60_000);
  assert.deepEqual(await accounts.keys(me.account.id), [], 'it is no API key by itself');
  const [grant, ...more] = await oauth.grants(me.account.id);
  assert.deepEqual(
    [grant!.keyId, grant!.clientName, grant!.redirectHost, more.length],
    [tokens.grantId, 'Cursor', '127.0.0.1:4000', 0],
  );
  assert.deepEqual(await actionsOf(me), ['oauth.approved', 'oauth.granted']);
  const stored = JSON.stringify(
    await sql(
      'select to_jsonb(c) from oauth_codes c union all select to_jsonb(g) from oauth_grants g union all select to_jsonb(e) from events e',
    ),
  );
  for (const secret of [exchange.code, tokens.access, tokens.refresh]) assert.ok(!stored.includes(secret));
});

test('a refusal goes back to the program, and gives nothing', async () => {
  const me = await world.member();
  const answer = new URL(await oauth.decideAuthorization(me, program().input, null, caller()));
  assert.deepEqual([answer.searchParams.get('error'), answer.searchParams.get('code')], ['access_denied', null]);
  assert.deepEqual(await actionsOf(me), ['oauth.denied']);
});

test('a request that is not in order leads nowhere', async () => {
  for (const [given, code] of [
    [{ clientId: 'x' }, 'invalid_client'],
    [{ clientId: cryptography.tokens.make() }, 'invalid_client'],
    [{ clientId: 'https://example.com/client.json' }, 'invalid_client'],
    [{ redirectUri: 'https://evil.example/' }, 'invalid_redirect_uri'],
    [{ redirectUri: 'http://127.0.0.1:4000/other' }, 'invalid_redirect_uri'],
    [{ responseType: 'token' }, 'invalid_request'],
    [{ codeChallengeMethod: 'plain' }, 'invalid_request'],
    [{ codeChallenge: '' }, 'invalid_request'],
    [{ scope: 'openid' }, 'invalid_scope'],
    [{ scope: 'keys:write' }, 'invalid_scope'],
    [{ resource: 'http://localhost/v1/mcp/x' }, 'invalid_target'],
    [{ resource: 'https://elsewhere.example/v1/mcp' }, 'invalid_target'],
    [{ state: 'x'.repeat(grantBounds.maxStateChars + 1) }, 'invalid_request'],
  ] as const) {
    const { input } = program(given);
    assert.equal(await refusalOf(oauth.authorizationQuestion(world.owner, input)), code, JSON.stringify(given));
    assert.equal(await refusalOf(oauth.decideAuthorization(world.owner, input, ['agents:read'], caller())), code);
    assert.equal(await refusalOf(oauth.decideAuthorization(world.owner, input, null, caller())), code);
  }
  for (const scopes of [[], ['usage:read'], ['keys:write']] as const) {
    const { input } = program();
    assert.equal(await refusalOf(oauth.decideAuthorization(world.owner, input, scopes, caller())), 'invalid_request');
  }
});

test('a code is bound to its client, its address and its verifier, and ends after two minutes', async () => {
  const me = await world.member();
  const other = await oauth.registerClient({ name: 'Other', redirectUris: [redirectUri] }, '10.1.1.2');
  const { exchange } = await consented(me);
  for (const wrong of [
    { code: cryptography.tokens.make() },
    { code: '' },
    { clientId: other.id },
    { redirectUri: 'http://127.0.0.1:4001/callback' },
    { codeVerifier: randomBytes(32).toString('base64url') },
    { codeVerifier: '' },
  ]) {
    assert.equal(await refusalOf(oauth.exchangeCode({ ...exchange, ...wrong }, caller())), 'invalid_grant');
  }
  const elsewhere = { ...exchange, resource: 'https://elsewhere.example' };
  assert.equal(await refusalOf(oauth.exchangeCode(elsewhere, caller())), 'invalid_target');
  await sql(`update oauth_codes set expires_at = now() where account_id = '${me.account.id}'`);
  assert.equal(await refusalOf(oauth.exchangeCode(exchange, caller())), 'invalid_grant');
  assert.deepEqual(await oauth.grants(me.account.id), []);
});

test('a code that comes twice ends what it gave, also when both come at once', async () => {
  const me = await world.member();
  const { exchange } = await consented(me);
  const tokens = await oauth.exchangeCode(exchange, caller());
  assert.ok(await isGood(tokens.access));
  assert.equal(await refusalOf(oauth.exchangeCode(exchange, caller())), 'invalid_grant');
  assert.equal(await isGood(tokens.access), false);
  assert.equal(await refusalOf(renewed(tokens.refresh)), 'invalid_grant');
  const twice = await consented(me);
  const outcomes = await Promise.all([1, 2].map(() => refusalOf(oauth.exchangeCode(twice.exchange, caller()))));
  assert.deepEqual(outcomes.toSorted(), ['invalid_grant', 'nothing']);
  assert.deepEqual(await oauth.grants(me.account.id), []);
  const actions = await actionsOf(me);
  assert.equal(actions.filter((action) => action === 'oauth.reuse_detected').length, 2);
});

test('renewing replaces both tokens; a lost reply is made good for a minute, and any older token ends the grant', async () => {
  const me = await world.member();
  const first = await granted(me);
  const second = await renewed(first.refresh);
  assert.deepEqual(
    [second.grantId, await isGood(first.access), await isGood(second.access)],
    [first.grantId, false, true],
  );
  // The reply to the first may not have come: the program asks again with the token that it has.
  const again = await renewed(first.refresh);
  assert.ok(await isGood(again.access));
  const third = await renewed(again.refresh);
  assert.equal(await refusalOf(renewed(first.refresh)), 'invalid_grant', 'two exchanges old');
  assert.equal(await isGood(third.access), false);
  assert.equal(await refusalOf(renewed(third.refresh)), 'invalid_grant');
  const late = await granted(me);
  const present = await renewed(late.refresh);
  await sql(`update oauth_grants set rotated_at = now() - interval '2 minutes' where key_id = '${late.grantId}'`);
  assert.equal(await refusalOf(renewed(late.refresh)), 'invalid_grant', 'the one before, too late');
  assert.equal(await isGood(present.access), false);
  assert.equal((await actionsOf(me)).filter((action) => action === 'oauth.reuse_detected').length, 2);
});

test('renewed access has at most the scopes of the grant, is of its client, and ends when nobody renews it', async () => {
  const me = await world.member();
  const first = await granted(me);
  const narrow = await renewed(first.refresh, { scope: 'agents:chat' });
  assert.deepEqual(narrow.scopes, ['agents:chat']);
  const whole = await renewed(narrow.refresh);
  assert.deepEqual(whole.scopes, ['agents:read', 'agents:chat']);
  assert.equal(await refusalOf(renewed(whole.refresh, { scope: 'agents:write' })), 'invalid_scope');
  assert.equal(await refusalOf(renewed(whole.refresh, { resource: 'http://localhost' })), 'invalid_target');
  assert.equal(await refusalOf(renewed(whole.refresh, { clientId: 'other' })), 'invalid_grant');
  for (const token of ['', 'x', whole.refresh.slice(1), cryptography.tokens.make().repeat(2)]) {
    assert.equal(await refusalOf(renewed(token)), 'invalid_grant');
  }
  await sql(`update oauth_grants set expires_at = now() where key_id = '${first.grantId}'`);
  assert.equal(await refusalOf(renewed(whole.refresh)), 'invalid_grant');
  assert.deepEqual(await oauth.grants(me.account.id), []);
});

test('a grant is revoked by its person and by its program, by either token, and by nobody else', async () => {
  const [me, other] = [await world.member(), await world.member()];
  const mine = await granted(me);
  assert.equal(await refusalOf(oauth.revokeGrant(other.account.id, mine.grantId, byOf(other))), 'grant_not_found');
  await oauth.revokeGrant(me.account.id, mine.grantId, byOf(me));
  assert.equal(await refusalOf(oauth.revokeGrant(me.account.id, mine.grantId, byOf(me))), 'grant_not_found');
  assert.equal(await isGood(mine.access), false);
  for (const which of ['access', 'refresh'] as const) {
    const tokens = await granted(me);
    await oauth.revokeToken({ token: tokens[which], clientId: 'other' }, caller());
    assert.ok(await isGood(tokens.access));
    await oauth.revokeToken({ token: tokens[which], clientId: client.id }, caller());
    assert.equal(await isGood(tokens.access), false);
    await oauth.revokeToken({ token: tokens[which], clientId: client.id }, caller());
  }
  await oauth.revokeToken({ token: 'anything', clientId: client.id }, caller());
  assert.equal((await actionsOf(me)).filter((action) => action === 'oauth.revoked').length, 3);
});

test('grants beyond the bound end those that were used longest ago', async () => {
  const me = await world.member();
  const oldest = await granted(me);
  await sql(`update oauth_grants set rotated_at = now() - interval '1 hour' where key_id = '${oldest.grantId}'`);
  for (let i = 0; i < grantBounds.maxGrants; i += 1) await granted(me);
  const ids = (await oauth.grants(me.account.id)).map(({ keyId }) => keyId);
  assert.deepEqual([ids.length, ids.includes(oldest.grantId)], [grantBounds.maxGrants, false]);
});

test('clients that register are bounded by network, and have good addresses', async () => {
  const register = (redirectUris: string[], address: string) =>
    refusalOf(oauth.registerClient({ name: null, redirectUris }, address));
  assert.equal(await register(['javascript:alert(1)'], '10.1.2.1'), 'invalid_redirect_uri');
  assert.equal(await register([], '10.1.2.1'), 'invalid_redirect_uri');
  const made = await Promise.all(Array.from({ length: 55 }, () => register([redirectUri], '10.1.3.1')));
  assert.equal(made.filter((outcome) => outcome === 'nothing').length, grantBounds.maxClientsOfNetwork);
  assert.equal(await register([redirectUri], '10.1.4.1'), 'nothing');
});

test('a client by its document is asked for once in a while, and only what names itself is one', async () => {
  const good = { client_id: 'https://app.example/client.json', client_name: 'App\u202e', redirect_uris: [redirectUri] };
  const documents: Record<string, unknown> = {
    [good.client_id]: good,
    'https://app.example/liar.json': { ...good, client_id: 'https://other.example/client.json' },
    'https://app.example/secret.json': {
      ...good,
      client_id: 'https://app.example/secret.json',
      token_endpoint_auth_method: 'client_secret_basic',
    },
    'https://app.example/script.json': {
      client_id: 'https://app.example/script.json',
      redirect_uris: ['javascript:alert(1)'],
    },
    'https://app.example/text.json': 'text',
  };
  const reads: string[] = [];
  const wired = accountsOver(store, {
    clientDocuments: {
      async read(url) {
        reads.push(url);
        return documents[url] ?? null;
      },
    },
  });
  after(() => wired.close());
  const ask = (clientId: string) =>
    wired.accounts.oauth.authorizationQuestion(world.owner, program({ clientId }).input);
  for (let i = 0; i < 3; i += 1) {
    const { clientName, clientHost } = await ask(good.client_id);
    assert.deepEqual([clientName, clientHost], ['App', 'app.example']);
  }
  assert.deepEqual(reads, [good.client_id]);
  for (const url of Object.keys(documents).slice(1)) assert.equal(await refusalOf(ask(url)), 'invalid_client', url);
  for (const url of [
    'http://app.example/client.json',
    'https://app.example/',
    'https://app.example/client.json#x',
    'https://u@app.example/client.json',
    'https://app.example/a/../client.json',
  ]) {
    assert.equal(await refusalOf(ask(url)), 'invalid_client', url);
    assert.ok(!reads.includes(url), 'it is not fetched');
  }
});
