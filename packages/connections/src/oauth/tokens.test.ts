/** Token endpoints that attack the host, and those that an owner named: their answers, and the words that they get. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ConsentFailure } from '@lodge/ports';
import type { ConsentTerms, ConsentWish } from '@lodge/ports';
import { as, mcpUrl, openAttack, redirect, redirectUri } from '../testing/attack.ts';
import type { Answer } from '../testing/attack.ts';
import { createConsent } from './consent.ts';
import { refreshed } from './tokens.ts';

const attack = openAttack();
const { here } = attack;
const never = new AbortController().signal;

const terms: ConsentTerms = {
  issuer: as,
  tokenEndpoint: `${as}/token`,
  authMethods: ['none'],
  resource: mcpUrl,
  registered: { id: 'the-client', secret: null, method: 'none' },
};
const tokens = {
  access_token: 'the-access-token',
  token_type: 'Bearer',
  expires_in: 60,
  refresh_token: 'the-refresh-token',
};
const tokenAnswers: readonly (readonly [string, Answer, boolean, RegExp])[] = [
  ['redirects into the host', redirect(307, () => here()), false, /specifies/],
  ['redirects within itself', redirect(307, () => `${as}/token2`), false, /specifies/],
  ['gives a token of another type', { ...tokens, token_type: 'mac' }, false, /specifies/],
  ['gives a token with a line break', { ...tokens, access_token: 'a\r\nX-Evil: b' }, false, /specifies/],
  ['gives a token of 1 MiB', { ...tokens, access_token: 'x'.repeat(2 ** 20) }, false, /too much/],
  ['gives a long token', { ...tokens, access_token: 'x'.repeat(4_097) }, false, /token of more than 4096 characters/],
  ['gives a long second token', { ...tokens, refresh_token: 'x'.repeat(60_000) }, false, /token of more than 4096/],
  ['gives no token', {}, false, /specifies/],
  ['gives a page', '<p>secret words', false, /specifies/],
  ['says nothing', () => undefined, false, /in time/],
  [
    'says something without an end',
    (_req, res) => {
      const timer = setInterval(() => res.write(' '), 1);
      res.on('close', () => clearInterval(timer));
    },
    false,
    /too much|in time/,
  ],
  ['breaks off', (_req, res) => res.destroy(), false, /broke off/],
  [
    'says no, in words of its own',
    (_req, res) =>
      res.writeHead(400).end('{"error":"invalid_grant","error_description":"secret words the-refresh-token"}'),
    true,
    /refused/,
  ],
  ['knows the client no more', (_req, res) => res.writeHead(401).end('{"error":"invalid_client"}'), true, /refused/],
  [
    'has too much to do',
    (_req, res) => res.writeHead(503).end('{"error":"temporarily_unavailable"}'),
    false,
    /specifies/,
  ],
  [
    'says no with status 200, as GitHub does',
    { error: 'bad_refresh_token', error_description: 'secret words' },
    true,
    /refused/,
  ],
  ['says what nobody knows with status 200', { error: 'constructor' }, false, /specifies/],
  ['says no in words of nobody', (_req, res) => res.writeHead(400).end('secret words'), false, /specifies/],
];

describe('no token is taken, and nothing of it told, where the token endpoint', () => {
  for (const [title, given, isRefusal, message] of tokenAnswers) {
    test(title, async () => {
      attack.set({ [`${as}/token`]: given });
      const exchange = { terms, client: null, code: 'the-code', verifier: 'the-verifier', redirectUri };
      const rejected = (error: unknown): true => {
        assert.ok(error instanceof ConsentFailure, String(error));
        assert.equal(error.isRefusal, isRefusal);
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /secret words|the-refresh|the-code|the-verifier|Evil/);
        return true;
      };
      await assert.rejects(createConsent(attack.way).exchange(exchange, never), rejected);
      await assert.rejects(
        refreshed(attack.way, { terms, client: null, refreshToken: 'the-refresh-token' }, AbortSignal.timeout(2_000)),
        rejected,
      );
      assert.deepEqual(attack.canaryHits, []);
      assert.ok(attack.asked.every(({ place }) => place === `${as}/token`));
    });
  }
});

test('a code and a token go to the endpoint alone, with the resource and the verifier', async () => {
  attack.set({ [`${as}/token`]: tokens });
  const exchange = { terms, client: null, code: 'the-code', verifier: 'the-verifier', redirectUri };
  const granted = await createConsent(attack.way).exchange(exchange, never);
  assert.deepEqual(granted, {
    accessToken: 'the-access-token',
    refreshToken: 'the-refresh-token',
    expiresInMs: 60_000,
    scope: null,
  });
  const body = Object.fromEntries(new URLSearchParams(attack.asked[0]!.body));
  assert.deepEqual(
    [body.code, body.code_verifier, body.resource, body.client_id],
    ['the-code', 'the-verifier', mcpUrl, 'the-client'],
  );
  attack.answers = { [`${as}/token`]: { ...tokens, expires_in: 1e300, refresh_token: undefined } };
  const again = await refreshed(attack.way, { terms, client: null, refreshToken: 'kept' }, never);
  assert.equal(again.refreshToken, 'kept', 'one that is not put in the place of another stays');
  assert.equal(again.expiresInMs, 366 * 24 * 3_600_000);
});

const named = { authorizationUrl: `${as}/authorize?access_type=offline`, tokenUrl: `${as}/token`, clientAuth: null };
const own = { id: 'our client', secret: 'se:cret+1' };
function begin(given: Partial<ConsentWish>) {
  attack.set({});
  const wish = { url: 'https://api.example.com', client: own, endpoints: named, issuer: null, scope: null };
  return createConsent(attack.way).begin({ ...wish, redirectUri, state: 'the-state', ...given }, never);
}

test('an authorization server that the owner named is asked as it was named, and nobody is asked for another', async () => {
  const begun = await begin({ issuer: 'https://before.example.com', scope: 'a b' });
  const query = Object.fromEntries(new URL(begun.authorizationUrl).searchParams);
  assert.ok(begun.authorizationUrl.startsWith(`${as}/authorize?`));
  const { code_challenge: challenge, ...rest } = query;
  assert.equal(challenge!.length, 43);
  assert.deepEqual(rest, {
    access_type: 'offline',
    response_type: 'code',
    client_id: own.id,
    code_challenge_method: 'S256',
    redirect_uri: redirectUri,
    state: 'the-state',
    scope: 'a b',
  });
  assert.deepEqual([attack.asked, begun.terms.resource, begun.terms.registered], [[], null, null]);
  const plain = await begin({ endpoints: { ...named, clientAuth: 'client_secret_post' } });
  assert.equal(new URL(plain.authorizationUrl).searchParams.get('scope'), null);

  attack.answers = { [`${as}/token`]: tokens };
  const exchange = { client: own, code: 'the-code', verifier: begun.verifier, redirectUri };
  await createConsent(attack.way).exchange({ ...exchange, terms: begun.terms }, never);
  await refreshed(attack.way, { terms: plain.terms, client: own, refreshToken: 'kept' }, never);
  const [inHeader, inBody] = attack.asked.map(
    ({ headers, body }) => [headers.authorization, new URLSearchParams(body)] as const,
  );
  const basic = Buffer.from(inHeader![0]!.replace(/^Basic /, ''), 'base64').toString();
  assert.equal(basic, `${own.id}:${own.secret}`);
  assert.deepEqual([inHeader![1].get('resource'), inHeader![1].get('client_secret')], [null, null]);
  assert.deepEqual([inBody![0], inBody![1].get('client_secret')], [undefined, own.secret]);
});

test('an authorization server that the owner named is not on this host, nor without TLS', async () => {
  for (const [given, message] of [
    [{ tokenUrl: here('/token') }, /not public/],
    [{ authorizationUrl: 'https://[::1]/authorize' }, /not public/],
    [{ tokenUrl: 'http://as.example.com/token' }, /not https/],
  ] as const) {
    await assert.rejects(begin({ endpoints: { ...named, ...given } }), (error: unknown) => {
      assert.ok(error instanceof ConsentFailure);
      assert.match(error.message, message);
      return true;
    });
  }
  assert.deepEqual(attack.canaryHits, []);
});
