/** Servers whose OAuth is an attack: on the host's network, on its memory and time, on the person who consents. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ConsentFailure } from '@lodge/ports';
import type { ConsentWish } from '@lodge/ports';
import { as, mcpUrl, openAttack, redirect, redirectUri } from '../testing/attack.ts';
import type { Answer, Answers } from '../testing/attack.ts';
import { createConsent } from './consent.ts';

const attack = openAttack();
const { here } = attack;
const never = new AbortController().signal;

const resourceAt = 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp';
const metadataAt = `${as}/.well-known/oauth-authorization-server`;
const resource = { resource: mcpUrl, authorization_servers: [as], scopes_supported: ['a', 'b'] };
const metadata = {
  issuer: as,
  authorization_endpoint: `${as}/authorize`,
  token_endpoint: `${as}/token`,
  registration_endpoint: `${as}/register`,
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['none'],
};
const client = { client_id: 'the-client', redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' };
const challenged =
  (header: string): Answer =>
  (_req, res) =>
    res.writeHead(401, { 'www-authenticate': header }).end();
const good: Answers = {
  [mcpUrl]: challenged(`Bearer resource_metadata="${resourceAt}"`),
  [resourceAt]: resource,
  [metadataAt]: metadata,
  [`${as}/register`]: (_req, res) =>
    res.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(client)),
};

const wish: ConsentWish = {
  url: mcpUrl,
  client: null,
  endpoints: null,
  issuer: null,
  scope: null,
  redirectUri,
  state: 'the-state',
};
function begin(more: Answers, given: Partial<ConsentWish> = {}) {
  attack.set({ ...good, ...more });
  return createConsent(attack.way).begin({ ...wish, ...given }, never);
}
test('a server as the specifications have it: PKCE, the resource, the scopes that it names, a client registered', async () => {
  const begun = await begin({});
  const url = new URL(begun.authorizationUrl);
  const query = Object.fromEntries(url.searchParams);
  assert.equal(url.origin + url.pathname, `${as}/authorize`);
  assert.deepEqual(
    [query.response_type, query.client_id, query.code_challenge_method, query.state, query.redirect_uri],
    ['code', 'the-client', 'S256', 'the-state', redirectUri],
  );
  assert.deepEqual([query.resource, query.scope], [mcpUrl, 'a b']);
  assert.ok(begun.verifier.length >= 43 && !begun.authorizationUrl.includes(begun.verifier));
  assert.equal(begun.terms.tokenEndpoint, `${as}/token`);
  const registered = JSON.parse(attack.asked.find(({ place }) => place.endsWith('/register'))!.body) as Record<
    string,
    unknown
  >;
  assert.deepEqual(registered['redirect_uris'], [redirectUri]);
});

test('OpenID Connect discovery, an issuer with a path, and a server before RFC 9728 do as well', async () => {
  const tenant = `${as}/tenant`;
  const oidc = { ...metadata, issuer: tenant, jwks_uri: `${as}/keys`, subject_types_supported: ['public'] };
  const more = { id_token_signing_alg_values_supported: ['RS256'] };
  const begun = await begin({
    [resourceAt]: { ...resource, authorization_servers: [tenant] },
    [`${tenant}/.well-known/openid-configuration`]: { ...oidc, ...more },
  });
  assert.equal(begun.terms.issuer, tenant);
  const own = 'https://mcp.example.com';
  const { [resourceAt]: _none, ...without } = good;
  attack.answers = {
    ...without,
    [mcpUrl]: challenged('Bearer'),
    [`${own}/.well-known/oauth-authorization-server`]: { ...metadata, issuer: own },
  };
  assert.equal((await createConsent(attack.way).begin(wish, never)).terms.issuer, own);
});

const withMetadata = (change: object): Answers => ({ [metadataAt]: { ...metadata, ...change } });
const hostile: readonly (readonly [string, () => Answers, RegExp])[] = [
  [
    'the refusal names a metadata document at the address of a cloud',
    () => ({ [mcpUrl]: challenged('Bearer resource_metadata="http://169.254.169.254/latest/meta-data/"') }),
    /not https/,
  ],
  [
    'the refusal names a metadata document on this host',
    () => ({ [mcpUrl]: challenged(`Bearer resource_metadata="${here()}"`) }),
    /not public/,
  ],
  [
    'the authorization server is in a private network',
    () => ({ [resourceAt]: { ...resource, authorization_servers: ['https://10.0.0.1'] } }),
    /not public/,
  ],
  [
    'the authorization server is a name that leads to this host',
    () => ({ [resourceAt]: { ...resource, authorization_servers: [`https://localhost:${attack.portHere()}`] } }),
    /not public/,
  ],
  [
    'the authorization server is an address in IPv6 clothes',
    () => ({ [resourceAt]: { ...resource, authorization_servers: ['https://[::ffff:127.0.0.1]'] } }),
    /not public/,
  ],
  ['the token endpoint is on this host', () => withMetadata({ token_endpoint: here('/token') }), /not public/],
  ['the registration is on this host', () => withMetadata({ registration_endpoint: here('/register') }), /not public/],
  [
    'the browser is sent into a private network',
    () => withMetadata({ authorization_endpoint: 'https://192.168.1.1/apply' }),
    /not public/,
  ],
  [
    'the browser is sent where anybody can read along',
    () => withMetadata({ authorization_endpoint: 'http://as.example.com/authorize' }),
    /not https/,
  ],
  [
    'the browser is to run a script',
    () => withMetadata({ authorization_endpoint: 'javascript:alert(1)' }),
    /specifies/,
  ],
  ['an endpoint with a user', () => withMetadata({ token_endpoint: 'https://u:p@as.example.com/token' }), /specifies/],
  [
    'the token endpoint without TLS',
    () => withMetadata({ token_endpoint: 'http://as.example.com/token' }),
    /not https/,
  ],
  ['a document that redirects into the host', () => ({ [resourceAt]: redirect(302, () => here()) }), /specifies/],
  ['metadata that redirect into the host', () => ({ [metadataAt]: redirect(307, () => here()) }), /found/],
  ['a registration that redirects', () => ({ [`${as}/register`]: redirect(307, () => here()) }), /specifies/],
  ['metadata of another issuer', () => withMetadata({ issuer: 'https://bank.example.com' }), /another issuer/],
  [
    'a resource that is another server',
    () => ({ [resourceAt]: { ...resource, resource: 'https://bank.example.com/mcp' } }),
    /another resource/,
  ],
  [
    'a resource that is another path',
    () => ({ [resourceAt]: { ...resource, resource: 'https://mcp.example.com/other' } }),
    /another resource/,
  ],
  ['no PKCE', () => withMetadata({ code_challenge_methods_supported: undefined }), /PKCE/],
  ['PKCE in the clear', () => withMetadata({ code_challenge_methods_supported: ['plain'] }), /PKCE/],
  ['tokens in the address', () => withMetadata({ response_types_supported: ['token'] }), /codes/],
  ['a document that is huge', () => ({ [resourceAt]: { ...resource, x: 'x'.repeat(70_000) } }), /too much/],
  ['a document that is deep', () => ({ [metadataAt]: '['.repeat(5_000) }), /too much/],
  [
    'a document of many values',
    () => ({ [metadataAt]: { ...metadata, scopes_supported: Array.from({ length: 3_000 }, () => 'a') } }),
    /too much/,
  ],
  [
    'a document without an end',
    () => ({
      [metadataAt]: (_req, res) => {
        const timer = setInterval(() => res.write(' '.repeat(1_000)), 1);
        res.on('close', () => clearInterval(timer));
      },
    }),
    /too much|in time/,
  ],
  ['a document that never comes', () => ({ [metadataAt]: () => undefined }), /in time/],
  ['a document that stalls', () => ({ [metadataAt]: (_req, res) => void res.writeHead(200).write('{') }), /in time/],
  [
    'a document that is packed',
    () => ({ [metadataAt]: (_req, res) => res.writeHead(200, { 'content-encoding': 'gzip' }).end('x') }),
    /specifies/,
  ],
  ['a document that is a page', () => ({ [resourceAt]: '<!doctype html>' }), /specifies/],
  ['a document of other types', () => withMetadata({ response_types_supported: 'code' }), /specifies/],
  ['a server that fails', () => ({ [metadataAt]: (_req, res) => res.writeHead(500).end('secret words') }), /specifies/],
  ['a client that is no word', () => ({ [`${as}/register`]: { ...client, client_id: 'a\r\nX-Evil: b' } }), /specifies/],
  ['a client that is huge', () => ({ [`${as}/register`]: { ...client, client_id: 'x'.repeat(1_000) } }), /specifies/],
  [
    'clients that nobody can be',
    () => withMetadata({ token_endpoint_auth_methods_supported: ['private_key_jwt'] }),
    /no way/,
  ],
  ['no clients', () => withMetadata({ registration_endpoint: undefined }), /client_id/],
  [
    'an endpoint too long for a browser',
    () => withMetadata({ authorization_endpoint: `${as}/${'x'.repeat(5_000)}` }),
    /specifies/,
  ],
];

describe('no consent begins where the server', () => {
  for (const [title, given, message] of hostile) {
    test(title, async () => {
      const began = performance.now();
      await assert.rejects(begin(given()), (error: unknown) => {
        assert.ok(error instanceof ConsentFailure, String(error));
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /secret words|evil|127\.|bank/i);
        return true;
      });
      assert.ok(performance.now() - began < 5_000);
      assert.deepEqual(attack.canaryHits, []);
    });
  }
});

test('parameters that an endpoint brings along change none of ours', async () => {
  const endpoint = `${as}/authorize?redirect_uri=https://evil.example.com/&state=x&client_id=evil&code_challenge=plain&tenant=7`;
  const { searchParams } = new URL((await begin(withMetadata({ authorization_endpoint: endpoint }))).authorizationUrl);
  assert.deepEqual(searchParams.getAll('redirect_uri'), [redirectUri]);
  assert.deepEqual([searchParams.getAll('state'), searchParams.getAll('client_id')], [['the-state'], ['the-client']]);
  assert.equal(searchParams.get('tenant'), '7');
});

test('a client of one authorization server is not shown to another', async () => {
  await assert.rejects(begin({}, { issuer: 'https://bank.example.com' }), /another authorization server/);
  assert.ok(attack.asked.every(({ place }) => !place.endsWith('/register')));
  assert.equal((await begin({}, { issuer: as })).terms.issuer, as);
});

test('scopes that are no words are not asked for', async () => {
  const { scope } = await begin({ [resourceAt]: { ...resource, scopes_supported: ['a"b', 'c\nd'] } });
  assert.equal(scope, null);
});
