/** The whole way of a program to its access, over HTTP, and what strangers make of it. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { testWorld } from '../../../../../../packages/testkit/src/plane/http/account-area.ts';
import type { Browser } from '../../../../../../packages/testkit/src/plane/http/account-area.ts';

const origin = 'https://lodge.example.com';
const world = await testWorld(origin);
after(() => world.close());
const program = world.browser();
const redirect_uri = 'https://app.example/callback';
const asForm = { 'content-type': 'application/x-www-form-urlencoded' };

async function register(body: object = { client_name: 'App', redirect_uris: [redirect_uri] }) {
  return program.call('POST', '/v1/oauth/register', body);
}
const client_id: string = (await register()).body.client_id;

function request(given: object = {}) {
  const verifier = randomBytes(32).toString('base64url');
  const code_challenge = createHash('sha256').update(verifier).digest('base64url');
  const asked = { client_id, redirect_uri, response_type: 'code', code_challenge, code_challenge_method: 'S256' };
  return { verifier, asked: { ...asked, scope: 'agents:read agents:chat', state: 's', ...given } };
}
const token = (body: Record<string, string>) =>
  program.call('POST', '/v1/oauth/token', new URLSearchParams(body).toString(), asForm);

async function granted(me: Browser) {
  const { verifier, asked } = request();
  const decided = await me.call('POST', '/authorization/decision', {
    ...asked,
    approve: true,
    scopes: ['agents:read'],
  });
  assert.equal(decided.status, 200, decided.text);
  const answer = new URL(decided.body.redirect_to);
  assert.deepEqual([answer.searchParams.get('iss'), answer.searchParams.get('state')], [origin, 's']);
  const code = answer.searchParams.get('code')!;
  const body = { grant_type: 'authorization_code', code, client_id, redirect_uri, code_verifier: verifier };
  return { body, reply: await token(body) };
}

test('what programs read first names this service by its public address', async () => {
  const read = async (path: string) => (await world.app.inject({ url: `/.well-known/${path}` })).json();
  const server = await read('oauth-authorization-server');
  assert.equal(server.issuer, origin);
  for (const [name, path] of [
    ['authorization_endpoint', '/account/authorize'],
    ['token_endpoint', '/v1/oauth/token'],
    ['registration_endpoint', '/v1/oauth/register'],
    ['revocation_endpoint', '/v1/oauth/revoke'],
    ['device_authorization_endpoint', '/v1/oauth/device_authorization'],
  ] as const) {
    assert.equal(server[name], origin + path);
  }
  assert.deepEqual(server.code_challenge_methods_supported, ['S256']);
  assert.ok(!server.scopes_supported.includes('keys:write'));
  for (const path of ['', '/v1/mcp']) {
    const resource = await read(`oauth-protected-resource${path}`);
    assert.deepEqual([resource.resource, resource.authorization_servers], [origin + path, [origin]]);
  }
});

test('a 401 of the MCP server says where access is had, and others say Bearer alone', async () => {
  const ask = async (url: string, headers = {}) =>
    (await world.app.inject({ method: 'POST', url, headers, payload: {} })).headers['www-authenticate'];
  const where = `resource_metadata="${origin}/.well-known/oauth-protected-resource/v1/mcp"`;
  assert.equal(await ask('/v1/mcp'), `Bearer ${where}`);
  assert.equal(await ask('/v1/mcp', { authorization: 'Bearer none' }), `Bearer error="invalid_token", ${where}`);
  assert.equal(await ask('/v1/agents'), 'Bearer');
});

test('a program gets access for an hour, which is listed as one grant and revoked there', async () => {
  const me = await world.member();
  const { reply } = await granted(me);
  assert.equal(reply.status, 200, reply.text);
  const { access_token, refresh_token, ...rest } = reply.body;
  const { data } = (await me.call('GET', '/grants')).body;
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 3_600, scope: 'agents:read', key_id: data[0].id });
  assert.deepEqual([data.length, data[0].client_name, data[0].redirect_host], [1, 'App', 'app.example']);
  assert.deepEqual((await me.call('GET', '/keys')).body.data, []);
  const bearer = { authorization: `Bearer ${access_token}` };
  assert.equal((await program.call('GET', '/v1/agents', undefined, bearer)).status, 200);
  assert.equal((await program.call('GET', '/keys', undefined, bearer)).body.error.code, 'insufficient_scope');
  const renewed = await token({ grant_type: 'refresh_token', refresh_token, client_id });
  assert.equal(renewed.status, 200, renewed.text);
  const { id } = data[0];
  const other = await world.member();
  assert.equal((await other.call('DELETE', `/grants/${id}`)).body.error.code, 'grant_not_found');
  assert.equal((await me.call('DELETE', `/grants/${id}`)).status, 200);
  assert.deepEqual((await me.call('GET', '/grants')).body.data, []);
  const late = await token({ grant_type: 'refresh_token', refresh_token: renewed.body.refresh_token, client_id });
  assert.deepEqual([late.status, late.body.error], [400, 'invalid_grant']);
});

test('a program signs itself out by its key and by the revocation endpoint', async () => {
  const me = await world.member();
  const first = (await granted(me)).reply.body;
  const bearer = { authorization: `Bearer ${first.access_token}` };
  assert.equal((await program.call('DELETE', '/keys/current', undefined, bearer)).status, 200);
  const second = (await granted(me)).reply.body;
  const form = new URLSearchParams({ token: second.refresh_token, client_id }).toString();
  assert.equal((await program.call('POST', '/v1/oauth/revoke', form, asForm)).status, 200);
  assert.equal((await program.call('POST', '/v1/oauth/revoke', { token: 'none', client_id })).status, 200);
  assert.deepEqual((await me.call('GET', '/grants')).body.data, []);
});

test('nothing is agreed to without the session, its token and a page of this service', async () => {
  const me = await world.member();
  const { asked } = request();
  const decision = { ...asked, approve: true, scopes: ['agents:read'] };
  for (const [path, body] of [
    ['/authorization', asked],
    ['/authorization/decision', decision],
  ] as const) {
    assert.equal((await world.browser().call('POST', path, body)).status, 401);
    const byKey = await world.browser().call('POST', path, body, { 'x-api-key': world.firstKey });
    assert.deepEqual([byKey.status, byKey.body.error.code], [403, 'insufficient_scope']);
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'x-csrf-token': 'x' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      const refused = await me.call('POST', path, body, headers);
      assert.deepEqual([refused.status, refused.body.error.code], [403, 'csrf_refused']);
    }
  }
  for (const [given, code] of [
    [{ redirect_uri: 'https://evil.example/' }, 'invalid_redirect_uri'],
    [{ client_id: 'x' }, 'invalid_client'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ resource: 'https://elsewhere.example' }, 'invalid_target'],
  ] as const) {
    const refused = await me.call('POST', '/authorization/decision', { ...decision, ...given });
    assert.deepEqual([refused.status, refused.body.error.code, refused.body.redirect_to], [400, code, undefined]);
  }
  assert.deepEqual((await me.call('GET', '/grants')).body.data, []);
});

test('registration takes good addresses alone, and tells errors in the words of its RFC', async () => {
  for (const [body, error] of [
    [{ redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['http://example.com/cb'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: [] }, 'invalid_request'],
    [{}, 'invalid_request'],
  ] as const) {
    const { status, body: reply } = await register(body);
    assert.deepEqual([status, reply.error, Object.keys(reply).length], [400, error, 2]);
  }
  const { status, body } = await register({
    client_name: 'x\u202e',
    redirect_uris: [redirect_uri],
    token_endpoint_auth_method: 'client_secret_post',
    grant_types: ['authorization_code'],
    logo_uri: 'https://evil.example/logo.png',
  });
  assert.deepEqual([status, body.client_name, body.token_endpoint_auth_method], [201, 'x', 'none']);
});

test('a code that comes twice is refused, and ends what it gave', async () => {
  const me = await world.member();
  const { body, reply } = await granted(me);
  assert.equal(reply.status, 200);
  const again = await token(body);
  assert.deepEqual([again.status, again.body.error], [400, 'invalid_grant']);
  assert.deepEqual((await me.call('GET', '/grants')).body.data, []);
});
