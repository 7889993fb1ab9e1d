/** Servers whose OAuth is an attack: on the host's network, on its memory and time, on the person who consents. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createOutbound } from '@lodge/egress';
import type { Outbound } from '@lodge/egress';
import { ConsentFailure } from '@lodge/ports';
import type { ConsentTerms } from '@lodge/ports';
import { defaultOAuthBounds } from '../bounds.ts';
import { createConsent } from './consent.ts';
import { refreshed } from './tokens.ts';

const mcpUrl = 'https://mcp.example.com/mcp';
const as = 'https://as.example.com';
const redirectUri = 'https://lodge.example.net/oauth/connections/callback';
const bounds = { ...defaultOAuthBounds, requestMs: 700, beginMs: 4_000, exchangeMs: 2_000, renewMs: 2_000 };
const never = new AbortController().signal;

type Answer = object | string | ((req: IncomingMessage, res: ServerResponse, body: string) => unknown);
type Answers = Readonly<Record<string, Answer>>;

let stub: Server;
let canary: Server;
let canaryHits: string[] = [];
let answers: Answers = {};
let asked: { readonly place: string; readonly body: string; readonly headers: IncomingMessage['headers'] }[] = [];
let outbound: Outbound;
/** A way on which `example.com` is the stub, and all other names lead where the host's do. */
let way: { readonly outbound: Outbound; readonly privateAddresses: false; readonly bounds: typeof bounds };
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

before(async () => {
  stub = createServer((req, res) => void answer(req, res).catch(() => res.destroy()));
  canary = createServer((req, res) => void (canaryHits.push(req.url!), res.end('{}')));
  for (const server of [stub, canary]) {
    server.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
  }
  outbound = createOutbound(500, null);
  const outside: Outbound = {
    ...outbound,
    send(to, request) {
      const url = new URL(request.url);
      if (!url.hostname.endsWith('.example.com')) return outbound.send(to, request);
      const place = `http://127.0.0.1:${portOf(stub)}${url.pathname}${url.search}`;
      return outbound.send(
        { privateAddresses: true },
        { ...request, url: place, headers: { ...request.headers, host: url.host } },
      );
    },
  };
  way = { outbound: outside, privateAddresses: false, bounds };
});
after(async () => {
  for (const server of [stub, canary]) {
    server?.closeAllConnections();
    server?.close();
  }
  await outbound?.close();
});

async function answer(req: IncomingMessage, res: ServerResponse): Promise<unknown> {
  let body = '';
  for await (const chunk of req) body += String(chunk);
  const place = `https://${req.headers.host}${req.url}`;
  asked.push({ place, body, headers: req.headers });
  const found = answers[place];
  if (found === undefined) return res.writeHead(404).end('nothing here');
  if (typeof found === 'function') return found(req, res, body);
  res.setHeader('content-type', 'application/json');
  return res.end(typeof found === 'string' ? found : JSON.stringify(found));
}

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

const wish = { url: mcpUrl, client: null, issuer: null as string | null, scope: null, redirectUri, state: 'the-state' };
function begin(more: Answers, given: Partial<typeof wish> = {}) {
  answers = { ...good, ...more };
  asked = [];
  canaryHits = [];
  return createConsent(way).begin({ ...wish, ...given }, never);
}
const here = (path = '/'): string => `https://127.0.0.1:${portOf(canary)}${path}`;
const redirect =
  (status: number, location: () => string): Answer =>
  (_req, res) =>
    res.writeHead(status, { location: location() }).end();

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
  const registered = JSON.parse(asked.find(({ place }) => place.endsWith('/register'))!.body) as Record<
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
  answers = {
    ...without,
    [mcpUrl]: challenged('Bearer'),
    [`${own}/.well-known/oauth-authorization-server`]: { ...metadata, issuer: own },
  };
  assert.equal((await createConsent(way).begin(wish, never)).terms.issuer, own);
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
    () => ({ [resourceAt]: { ...resource, authorization_servers: [`https://localhost:${portOf(canary)}`] } }),
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
      assert.deepEqual(canaryHits, []);
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
  assert.ok(asked.every(({ place }) => !place.endsWith('/register')));
  assert.equal((await begin({}, { issuer: as })).terms.issuer, as);
});

test('scopes that are no words are not asked for', async () => {
  const { scope } = await begin({ [resourceAt]: { ...resource, scopes_supported: ['a"b', 'c\nd'] } });
  assert.equal(scope, null);
});

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
  ['says no in words of nobody', (_req, res) => res.writeHead(400).end('secret words'), false, /specifies/],
];

describe('no token is taken, and nothing of it told, where the token endpoint', () => {
  for (const [title, given, isRefusal, message] of tokenAnswers) {
    test(title, async () => {
      answers = { [`${as}/token`]: given };
      canaryHits = [];
      asked = [];
      const exchange = { terms, client: null, code: 'the-code', verifier: 'the-verifier', redirectUri };
      const rejected = (error: unknown): true => {
        assert.ok(error instanceof ConsentFailure, String(error));
        assert.equal(error.isRefusal, isRefusal);
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /secret words|the-refresh|the-code|the-verifier|Evil/);
        return true;
      };
      await assert.rejects(createConsent(way).exchange(exchange, never), rejected);
      await assert.rejects(
        refreshed(way, { terms, client: null, refreshToken: 'the-refresh-token' }, AbortSignal.timeout(2_000)),
        rejected,
      );
      assert.deepEqual(canaryHits, []);
      assert.ok(asked.every(({ place }) => place === `${as}/token`));
    });
  }
});

test('a code and a token go to the endpoint alone, with the resource and the verifier', async () => {
  answers = { [`${as}/token`]: tokens };
  asked = [];
  const exchange = { terms, client: null, code: 'the-code', verifier: 'the-verifier', redirectUri };
  const granted = await createConsent(way).exchange(exchange, never);
  assert.deepEqual(granted, {
    accessToken: 'the-access-token',
    refreshToken: 'the-refresh-token',
    expiresInMs: 60_000,
    scope: null,
  });
  const body = Object.fromEntries(new URLSearchParams(asked[0]!.body));
  assert.deepEqual(
    [body.code, body.code_verifier, body.resource, body.client_id],
    ['the-code', 'the-verifier', mcpUrl, 'the-client'],
  );
  answers = { [`${as}/token`]: { ...tokens, expires_in: 1e300, refresh_token: undefined } };
  const again = await refreshed(way, { terms, client: null, refreshToken: 'kept' }, never);
  assert.equal(again.refreshToken, 'kept', 'one that is not put in the place of another stays');
  assert.equal(again.expiresInMs, 366 * 24 * 3_600_000);
});
