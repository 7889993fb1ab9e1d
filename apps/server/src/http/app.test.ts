import assert from 'node:assert/strict';
import { cryptography } from '@lodge/access';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { maxBodyBytes } from './pipeline/json-body.ts';
import { openApp } from '../../../../packages/testkit/src/plane/http/open-app.ts';

let broken: Error | null = null;
const { app, call, agent, key, sql, logged, close } = await openApp({
  api: (usual) => ({
    ...usual,
    agents: {
      ...usual.agents,
      list: async (filter) => {
        if (broken !== null) throw broken;
        return usual.agents.list(filter);
      },
    },
  }),
});
after(close);
const { apiKeys } = cryptography;

interface Operation {
  readonly requestBody?: unknown;
  readonly security: readonly object[];
}

function assertError(answer: { status: number; body: any }, status: number, type: string, code: string): void {
  assert.deepEqual([answer.status, answer.body?.error?.type, answer.body?.error?.code], [status, type, code]);
  assert.deepEqual(Object.keys(answer.body), ['error']);
  assert.deepEqual(Object.keys(answer.body.error), ['type', 'code', 'message']);
}

describe('keys', () => {
  test('no key, a wrong, a revoked and an expired one are each a 401 of their own, with WWW-Authenticate', async () => {
    const [revoked, expired] = [await key('usage:read,agents:read'), await key('usage:read,agents:chat')];
    const set = (column: string, plain: string) =>
      sql(`update api_keys set ${column} = now() - interval '1 second' where hash = $1`, [apiKeys.hash(plain)]);
    await Promise.all([set('revoked_at', revoked), set('expires_at', expired)]);
    const keys = { missing_api_key: null, invalid_api_key: 'x', revoked_api_key: revoked, expired_api_key: expired };
    for (const [code, key] of Object.entries(keys)) {
      const answer = await call('GET', '/v1/agents', { key });
      assertError(answer, 401, 'authentication_error', code);
      assert.equal(answer.headers['www-authenticate'], 'Bearer');
    }
    const long = await call('GET', '/v1/agents', { key: 'x'.repeat(5000) });
    assertError(long, 401, 'authentication_error', 'invalid_api_key');
  });

  test('a bearer token is a key, in any case of the word; another scheme is none', async () => {
    const all = await key('all');
    for (const authorization of [`Bearer ${all}`, `bearer ${all}`, `BEARER  ${all}`]) {
      assert.equal((await call('GET', '/v1/agents', { key: null, headers: { authorization } })).status, 200);
    }
    const basic = await call('GET', '/v1/agents', { key: null, headers: { authorization: 'Basic YWxsOg==' } });
    assertError(basic, 401, 'authentication_error', 'missing_api_key');
  });

  test('X-API-Key wins when both are sent', async () => {
    const headers = { authorization: `Bearer ${await key('all')}` };
    assertError(await call('GET', '/v1/agents', { key: 'x', headers }), 401, 'authentication_error', 'invalid_api_key');
    const other = { authorization: 'Bearer x' };
    assert.equal((await call('GET', '/v1/agents', { key: 'all', headers: other })).status, 200);
  });

  test('a scope that is lacking is a 403 that names it', async () => {
    const id = 'a'.repeat(12);
    const rows = [
      ['POST', '/v1/agents', 'agents:read', 'agents:write'],
      ['GET', '/v1/agents', 'agents:chat', 'agents:read'],
      ['GET', `/v1/agents/${id}`, 'agents:write', 'agents:read'],
      ['DELETE', `/v1/agents/${id}`, 'agents:write', 'agents:delete'],
      ['PATCH', `/v1/agents/${id}`, 'agents:read', 'agents:write'],
      ['POST', `/v1/agents/${id}/stop`, 'agents:read,agents:chat', 'agents:write'],
      ['GET', `/v1/agents/${id}/logs`, 'agents:write', 'agents:read'],
      ['POST', `/v1/agents/${id}/chat/completions`, 'agents:read', 'agents:chat'],
      ['POST', '/v1/chat/completions', 'usage:read', 'agents:write'],
      ['GET', '/v1/models', 'agents:delete', 'agents:chat'],
      ['GET', `/v1/agents/${id}/models`, 'usage:read', 'agents:write'],
    ] as const;
    for (const [method, url, key, wanted] of rows) {
      const answer = await call(method, url, { key });
      assertError(answer, 403, 'authorization_error', 'insufficient_scope');
      assert.ok(answer.body.error.message.includes(wanted), `${method} ${url}: ${answer.body.error.message}`);
    }
  });

  test('a key for chat alone may chat and list models, and any key may read sizes and providers', async () => {
    for (const url of ['/v1/models', '/v1/sizes', '/v1/providers']) {
      assert.equal((await call('GET', url, { key: 'agents:chat' })).status, 200);
    }
    const chat = await call('POST', '/v1/chat/completions', { key: 'agents:chat', body: {} });
    assert.equal(chat.status, 400, 'past the scope, to the body');
  });
});

describe('order of checks', () => {
  test('401 before 404 and 405', async () => {
    for (const [method, url] of [
      ['GET', '/nowhere'],
      ['GET', '/v1/nowhere'],
      ['PUT', '/v1/agents'],
      ['GET', '/v1/agents/%E0%A4%A'],
    ] as const) {
      assertError(await call(method, url, { key: null }), 401, 'authentication_error', 'missing_api_key');
    }
  });

  test('404 for an unknown path and 405 before the body is looked at', async () => {
    const wrong = { body: '{', headers: { 'content-type': 'application/json' } };
    assertError(await call('POST', '/v1/nowhere', wrong), 404, 'not_found_error', 'route_not_found');
    assertError(await call('PATCH', '/v1/agents', wrong), 405, 'invalid_request_error', 'method_not_allowed');
  });

  test('403 before 400, 400 before 404', async () => {
    const noScope = await call('POST', '/v1/agents', { key: 'agents:read', body: { nonsense: 1 } });
    assertError(noScope, 403, 'authorization_error', 'insufficient_scope');
    for (const id of ['a'.repeat(12), 'not-an-id']) {
      const answer = await call('POST', `/v1/agents/${id}/chat/completions`, { body: {} });
      assertError(answer, 400, 'invalid_request_error', 'invalid_request');
    }
  });
});

describe('paths and methods', () => {
  test('a wrong method on a known path is a 405 that lists the right ones', async () => {
    const id = await agent();
    const allows = [
      ['PUT', '/v1/agents', 'GET, HEAD, POST'],
      ['POST', `/v1/agents/${id}`, 'GET, HEAD, PATCH, DELETE'],
      ['GET', `/v1/agents/${id}/stop`, 'POST'],
      ['POST', `/v1/agents/${id}/logs`, 'GET, HEAD'],
      ['GET', `/v1/agents/${id}/chat/completions`, 'POST'],
      ['DELETE', '/v1/health', 'GET, HEAD'],
      ['HEAD', '/v1/chat/completions', 'POST'],
    ] as const;
    for (const [method, url, methods] of allows) {
      const answer = await call(method, url);
      assert.equal(answer.status, 405, `${method} ${url}`);
      const allowed = String(answer.headers['allow']).split(', ').sort();
      assert.deepEqual(allowed, `${methods}, OPTIONS`.split(', ').sort(), `${method} ${url}`);
    }
  });

  test('OPTIONS says what a path takes; HEAD is GET without a body; a trailing slash does not count', async () => {
    const options = await call('OPTIONS', '/v1/agents');
    assert.deepEqual([options.status, options.text], [204, '']);
    assert.match(String(options.headers['allow']), /POST/);
    assertError(await call('OPTIONS', '/v1/nowhere'), 404, 'not_found_error', 'route_not_found');
    const head = await call('HEAD', `/v1/agents/${await agent()}`);
    assert.deepEqual([head.status, head.text], [200, '']);
    assert.equal((await call('GET', '/v1/agents/')).status, 200);
  });

  test('ids that cannot be are agents that do not exist', async () => {
    const ids = [
      'x',
      'A'.repeat(12),
      '1'.repeat(12),
      'a'.repeat(13),
      'a'.repeat(8000),
      'a%00aaaaaaaaaa',
      '%2e%2e%2fetc',
      '__proto__',
    ];
    for (const id of ids) {
      for (const method of ['GET', 'DELETE'] as const) {
        assertError(await call(method, `/v1/agents/${id}`), 404, 'not_found_error', 'agent_not_found');
      }
    }
  });

  test('a query parameter that an operation does not name is a 400 that names it; a hook takes what its sender adds', async () => {
    const { body: document } = await call('GET', '/v1/openapi.json');
    const operations = Object.entries<object>(document.paths).flatMap(([path, item]) =>
      Object.entries<Operation>(item as any).map(([method, { requestBody, security }]) => ({
        method: method.toUpperCase() as 'GET',
        url: `${path.replaceAll(/\{\w+\}/g, 'x')}?nmae=1`,
        hasBody: requestBody !== undefined,
        takesKeys: security.length === 0 || security.some((scheme) => 'apiKey' in scheme),
      })),
    );
    // A missing body would be refused first.
    for (const { method, url } of operations.filter(({ hasBody, takesKeys }) => takesKeys && !hasBody)) {
      const answer = await call(method, url);
      if (url.startsWith('/v1/hooks/')) assertError(answer, 404, 'not_found_error', 'route_not_found');
      else {
        assertError(answer, 400, 'invalid_request_error', 'invalid_request');
        assert.match(answer.body.error.message, /^nmae is not a known query parameter\.$/, `${method} ${url}`);
      }
    }
  });

  test('percent-encoding that is none is a 400', async () => {
    for (const url of ['/v1/agents/%E0%A4%A', '/v1/agents?name=%E0%A4%A', '/v1/agents?%zz']) {
      assertError(await call('GET', url), 400, 'invalid_request_error', 'invalid_request');
    }
  });

  test('another account’s agent does not exist', async () => {
    await sql("insert into accounts (id, name) values ('other', 'Other')");
    const foreign = await agent({}, { account_id: 'other' });
    assertError(await call('GET', `/v1/agents/${foreign}`), 404, 'not_found_error', 'agent_not_found');
  });
});

describe('bodies', () => {
  const json = { 'content-type': 'application/json' };

  test('what is not JSON is a 400 invalid_json', async () => {
    const deep = `${'['.repeat(70)}${']'.repeat(70)}`;
    for (const body of ['{', '{"name":}', "{'name':'x'}", '{"name":"a"} x', Buffer.from([0x22, 0xff, 0x22]), deep]) {
      assertError(
        await call('POST', '/v1/agents', { body, headers: json }),
        400,
        'invalid_request_error',
        'invalid_json',
      );
    }
  });

  test('another media type, or an encoding, is a 415', async () => {
    for (const headers of [
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'content-type': 'nonsense' },
      { ...json, 'content-encoding': 'gzip' },
    ]) {
      const answer = await call('POST', '/v1/agents', { body: '{"name":"x"}', headers });
      assertError(answer, 415, 'invalid_request_error', 'unsupported_media_type');
    }
    const charset = { 'content-type': 'application/json; charset=utf-8' };
    const taken = await call('POST', '/v1/agents?wait=false', { body: '{"name":"x"}', headers: charset });
    assert.equal(taken.status, 202);
  });

  test('1 MiB is taken, a byte more is a 413', async () => {
    const body = (bytes: number) => `{"name":"x","model":"${'x'.repeat(bytes - 23)}"}`;
    assert.equal(body(maxBodyBytes).length, maxBodyBytes);
    const largest = await call('POST', '/v1/agents', { body: body(maxBodyBytes), headers: json });
    assertError(largest, 400, 'invalid_request_error', 'invalid_request');
    const tooLarge = await call('POST', '/v1/agents', { body: body(maxBodyBytes + 1), headers: json });
    assertError(tooLarge, 413, 'invalid_request_error', 'request_too_large');
  });

  test('nothing at all is a missing name', async () => {
    for (const headers of [json, {}]) {
      const answer = await call('POST', '/v1/agents', { body: headers === json ? '' : undefined, headers });
      assertError(answer, 400, 'invalid_request_error', 'invalid_request');
      assert.match(answer.body.error.message, /name is required/);
    }
  });
});

describe('every reply', () => {
  test('carries an X-Request-Id of its own, errors too', async () => {
    const ids = new Set<unknown>();
    for (const [method, url, key] of [
      ['GET', '/v1/agents', 'all'],
      ['GET', '/v1/agents', null],
      ['GET', '/nowhere', 'all'],
      ['PUT', '/v1/agents', 'all'],
      ['GET', '/v1/agents/%E0%A4%A', 'all'],
      ['OPTIONS', '/v1/agents', 'all'],
      ['GET', '/v1/health', null],
    ] as const) {
      const { headers } = await call(method, url, { key });
      assert.match(String(headers['x-request-id']), /^req_[0-9a-f]{32}$/);
      ids.add(headers['x-request-id']);
    }
    assert.equal(ids.size, 7);
  });

  test('says nothing of what failed inside; the log says it', async () => {
    broken = new Error('connect 10.1.2.3:5432 refused, password hunter2');
    const answer = await call('GET', '/v1/agents');
    broken = null;
    assertError(answer, 500, 'server_error', 'internal_error');
    assert.doesNotMatch(answer.text, /10\.1|hunter2/);
    assert.ok(logged.some((line) => line.includes(String(answer.headers['x-request-id']))));
  });
});

describe('over a socket', () => {
  test('what is not HTTP, and headers without end, get the envelope too', async () => {
    const { port } = app.server.address() as AddressInfo;
    const send = async (bytes: string): Promise<string> => {
      const socket = connect(port, '127.0.0.1');
      socket.write(bytes);
      return text(socket);
    };
    const garbage = await send('NONSENSE\r\n\r\n');
    assert.match(garbage, /^HTTP\/1\.1 400 [^]*X-Request-Id: req_[^]*"code":"invalid_request"/);
    const endless = await send(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
    assert.match(endless, /^HTTP\/1\.1 431 [^]*"code":"request_too_large"/);
  });
});
