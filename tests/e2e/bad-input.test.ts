/**
 * Everything a client can get wrong, against the whole API over HTTP on a real database: each request is answered with the
 * contract's status, type and code, names the field at fault, and changes nothing. No request gets as far as a VM, so none
 * is started: the engine's loop is not running, and the one agent stays in provisioning.
 */
import type { Scope } from '@lodge/domain';
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { hashApiKey, makeApiKey } from '@lodge/access';
import { openWorld } from './api/world.ts';
import type { World } from './api/world.ts';
import { badRequests } from './bad-requests.ts';
import { contents } from './contents.ts';
import type { BadRequest, Facts } from './bad-request.ts';

/** Keys of every kind, and the one agent. */
async function prepare(world: World): Promise<Facts> {
  const { url, key: all, accountId, sql } = world;
  const keyWith = (...given: readonly [Scope[], Date?]): Promise<string> => world.keyOf(accountId, ...given);
  const revoked = await keyWith(['agents:read']);
  await sql.query('update api_keys set revoked_at = now() where hash = $1', [hashApiKey(revoked)]);
  const created = await fetch(`${url}/v1/agents`, {
    method: 'POST',
    headers: { 'x-api-key': all, 'content-type': 'application/json' },
    body: '{"name":"The one"}',
  });
  assert.equal(created.status, 202);
  return {
    agentId: ((await created.json()) as { id: string }).id,
    keys: {
      all,
      read: await keyWith(['agents:read']),
      write: await keyWith(['agents:write']),
      chat: await keyWith(['agents:chat']),
      expired: await keyWith(['agents:read'], new Date(Date.now() - 1000)),
      revoked,
      unknown: makeApiKey(),
    },
  };
}

let world: World;
let facts: Facts;

before(async () => {
  // The account may have one agent, which is there.
  world = await openWorld({
    loops: false,
    maxAgents: 1,
    createWaitMs: 0,
    lifecycleWaitMs: 0,
    settings: { LODGE_MEMORY_OVERCOMMIT: '1' },
  });
  facts = await prepare(world);
});
after(() => world?.close());

async function send({ method = 'POST', path, key = 'all', headers = {}, json, body }: BadRequest): Promise<Response> {
  const credentials = key === null ? {} : { 'x-api-key': facts.keys[key] };
  const content = json === undefined ? body : JSON.stringify(json);
  const isText = typeof content === 'string';
  return fetch(`${world.url}${path.replace('{id}', facts.agentId)}`, {
    method,
    headers: { ...credentials, ...(content !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(content !== undefined && { body: isText ? content : new Blob([content as Uint8Array<ArrayBuffer>]) }),
    ...(content instanceof ReadableStream && { body: content, duplex: 'half' }),
  });
}

/** Clients of the MCP server learn from the challenge where they get access (RFC 9728). */
const challengeAt = (path: string): string =>
  path === '/v1/mcp' ? `Bearer resource_metadata="${world.url}/.well-known/oauth-protected-resource/v1/mcp"` : 'Bearer';

describe('bad input', () => {
  test('the table has a row for every way to get it wrong, and each but once', () => {
    const titles = badRequests.map(({ title }) => title);
    assert.ok(titles.length >= 60, String(titles.length));
    assert.equal(new Set(titles).size, titles.length);
  });

  for (const request of badRequests) {
    const { title, path, status, type, code, names } = request;
    test(`${title}: ${status} ${code}`, async () => {
      const before = await contents(world.sql);
      const response = await send(request);
      const text = await response.text();
      assert.equal(response.status, status, text);
      assert.match(response.headers.get('content-type') ?? '', /^application\/json\b/);
      assert.match(response.headers.get('x-request-id') ?? '', /^req_/);
      if (status === 401) assert.equal(response.headers.get('www-authenticate'), challengeAt(path));
      if (status === 405) assert.match(response.headers.get('allow') ?? '', /GET|POST/);
      if (status === 429) assert.match(response.headers.get('retry-after') ?? '', /^\d+$/);
      const reply = JSON.parse(text);
      assert.deepEqual(Object.keys(reply), ['error']);
      assert.deepEqual(Object.keys(reply.error).toSorted(), ['code', 'message', 'type']);
      assert.deepEqual([reply.error.type, reply.error.code], [type, code], text);
      for (const part of [names ?? []].flat()) assert.ok(reply.error.message.includes(part), `${text} names ${part}`);
      assert.doesNotMatch(
        text,
        /sk-secret|lodge_live_|postgres|node_modules|\/src\//,
        'nothing secret, nothing of the inside',
      );
      assert.equal(await contents(world.sql), before, 'the database is as it was');
    });
  }

  test('a create that does not fit into memory: 503 insufficient_capacity, and nothing is left', async () => {
    await world.sql.query("update agents set deleted_at = now(), desired = 'deleted'");
    world.host.memory = { totalMib: 4096, availableMib: 4000 };
    const before = await contents(world.sql);
    const headers = { 'x-api-key': facts.keys.all, 'content-type': 'application/json' };
    const create = { method: 'POST', headers, body: '{"name":"x","size":"xlarge"}' };
    const response = await fetch(`${world.url}/v1/agents`, create);
    assert.equal(response.status, 503);
    assert.match(response.headers.get('retry-after') ?? '', /^\d+$/);
    const { error } = (await response.json()) as { error: { type: string; code: string } };
    assert.deepEqual([error.type, error.code], ['server_error', 'insufficient_capacity']);
    assert.equal(await contents(world.sql), before);
    assert.equal(world.host.vms.size, 0);
  });
});
