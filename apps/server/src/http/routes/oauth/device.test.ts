import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { testWorld } from '../../../../../../packages/testkit/src/plane/http/account-area.ts';
import type { Reply } from '../../../../../../packages/testkit/src/plane/http/account-area.ts';

const world = await testWorld('https://lodge.example.com');
after(() => world.close());
const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
const asForm = { 'content-type': 'application/x-www-form-urlencoded' };

const begin = (body: object | string = { client_name: 'build-7' }, headers = {}) =>
  world.browser().call('POST', '/v1/oauth/device_authorization', body, headers);
const token = (body: object | string, headers = {}) => world.browser().call('POST', '/v1/oauth/token', body, headers);
const errorOf = ({ status, body }: Reply): unknown => [status, body.error, typeof body.error_description];

test('a machine signs in as RFC 8628 has it, by forms and by JSON', async () => {
  for (const how of ['form', 'json'] as const) {
    const me = await world.member();
    const sent = how === 'form' ? 'client_name=build%2D7&scope=agents:read+agents:chat&client_id=ignored' : undefined;
    const begun = await begin(
      sent ?? { client_name: 'build-7', scope: 'agents:read agents:chat', client_id: 'ignored' },
      sent === undefined ? {} : asForm,
    );
    assert.equal(begun.status, 200, begun.text);
    const { device_code, user_code, ...rest } = begun.body;
    assert.deepEqual(rest, {
      verification_uri: 'https://lodge.example.com/account/device',
      verification_uri_complete: `https://lodge.example.com/account/device?user_code=${user_code}`,
      expires_in: 600,
      interval: 5,
    });
    const seen = await me.call('POST', '/device', { user_code });
    assert.deepEqual(
      { ...seen.body, address: '', created_at: '', expires_at: '' },
      { client_name: 'build-7', address: '', scopes: ['agents:read', 'agents:chat'], created_at: '', expires_at: '' },
    );
    const decided = await me.call('POST', '/device/decision', { user_code, approve: true, scopes: ['agents:chat'] });
    assert.equal(decided.status, 200, decided.text);
    const body = { grant_type, device_code };
    const got = await token(how === 'form' ? new URLSearchParams(body).toString() : body, how === 'form' ? asForm : {});
    assert.equal(got.status, 200, got.text);
    const { data } = (await me.call('GET', '/keys')).body;
    assert.deepEqual(got.body, {
      access_token: got.body.access_token,
      token_type: 'Bearer',
      scope: 'agents:chat',
      key_id: data[0].id,
    });
    assert.equal(got.headers['cache-control'], 'no-store');
    const own = await world.browser().call('GET', '/keys/current', undefined, {
      authorization: `Bearer ${got.body.access_token}`,
    });
    assert.deepEqual(own.body.name, 'build-7');
  }
});

test('what the token endpoint refuses is told in the words of RFC 6749', async () => {
  const { device_code } = (await begin()).body;
  assert.deepEqual(errorOf(await token({ grant_type, device_code })), [400, 'authorization_pending', 'string']);
  assert.deepEqual(errorOf(await token({ grant_type, device_code })), [400, 'slow_down', 'string']);
  assert.deepEqual(errorOf(await token({ grant_type, device_code: 'x' })), [400, 'invalid_grant', 'string']);
  for (const [body, error, headers] of [
    [{ grant_type: 'password' }, 'unsupported_grant_type', {}],
    [{ grant_type }, 'invalid_request', {}],
    [{}, 'invalid_request', {}],
    ['{', 'invalid_request', { 'content-type': 'application/json' }],
    ['grant_type=a&grant_type=b', 'invalid_request', asForm],
    ['grant_type=%ff%', 'invalid_request', asForm],
    [`grant_type=${'x'.repeat(70_000)}`, 'invalid_request', asForm],
    ['a[b]=c', 'invalid_request', asForm],
  ] as const) {
    const reply = await token(body, headers);
    assert.equal(reply.body.error, error, reply.text);
    assert.deepEqual(Object.keys(reply.body).toSorted(), ['error', 'error_description']);
    assert.equal(reply.headers['cache-control'], 'no-store');
  }
});

test('a machine with a bad name or scope is refused, and its name is one visible line', async () => {
  for (const [body, field] of [
    [{}, 'client_name'],
    [{ client_name: '\u200b' }, 'client_name'],
    [{ client_name: 'x'.repeat(101) }, 'client_name'],
    [{ client_name: 'x', scope: 'everything' }, 'scope'],
  ] as const) {
    const { status, body: reply } = await begin(body);
    assert.equal(status, 400);
    assert.ok(reply.error.message.includes(field), reply.error.message);
  }
  const { user_code } = (await begin({ client_name: 'a\u202eb\n<script>c' })).body;
  const seen = await world.owner.call('POST', '/device', { user_code });
  assert.equal(seen.body.client_name, 'a b <script>c');
});

test('a decision names what it gives, and wrong ones name the field', async () => {
  const { user_code } = (await begin({ client_name: 'x', scope: 'agents:read' })).body;
  for (const [body, words] of [
    [{ approve: true }, 'scopes is required'],
    [{ approve: false, scopes: ['agents:read'] }, 'scopes must be absent'],
    [{ approve: true, scopes: [] }, 'scopes'],
    [{ approve: true, scopes: ['agents:write'] }, 'scopes'],
  ] as const) {
    const reply = await world.owner.call('POST', '/device/decision', { user_code, ...body });
    assert.equal(reply.status, 400);
    assert.ok(reply.body.error.message.includes(words), reply.body.error.message);
  }
  assert.equal((await world.owner.call('POST', '/device/decision', { user_code, approve: false })).status, 200);
  const again = await world.owner.call('POST', '/device/decision', { user_code, approve: false });
  assert.deepEqual([again.status, again.body.error.code], [404, 'device_code_not_found']);
});
