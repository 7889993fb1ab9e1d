/**
 * Everything a client can get wrong, against the whole API over HTTP on a real database: each request is answered with the
 * contract's status, type and code, names the field at fault, and changes nothing. No request gets as far as a VM, so none
 * is started: the engine's loop is not running, and the one agent stays in provisioning.
 */
import type { Scope } from '@lodge/domain';
import { scopes } from '@lodge/domain';
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { cryptography, createSecretBox, hashApiKey, lastFour, loadMasterKey, makeApiKey } from '@lodge/access';
import {
  createAccounts,
  createAgentVisits,
  createApiKeyVerifier,
  createConnections,
  createEngine,
} from '@lodge/engine';
import { builtinProviders } from '@lodge/broker';
import type { ImageBuilder } from '@lodge/ports';
import { openConnections } from '@lodge/connections';
import { createGateway, createOpenclawRuntime } from '@lodge/runtimes';
import { webhooksOver } from '@lodge/testkit/webhooks';
import { migrate, openStore } from '@lodge/store';
import { testDatabase } from '@lodge/testkit/postgres';
import { Client } from 'pg';
import { createHttpApp } from '../../apps/server/src/http/app.ts';
import { createFakeDriver, FakeHost } from '@lodge/vm/fake';
import { channelParts } from '../../packages/testkit/src/plane/channels.ts';
import { badRequests } from './bad-requests.ts';
import type { BadRequest, Facts } from './bad-request.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const noImages: ImageBuilder = {
  idOf: () => assert.fail('no image is looked for'),
  find: () => assert.fail('no image is looked for'),
  ensure: () => assert.fail('no image is made'),
};

/** The API over real store, access and engine. The account may have one agent, which is there. */
async function startService() {
  const undo: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    const dataDir = await mkdtemp(join(tmpdir(), 'lodge-bad-input-'));
    undo.push(() => rm(dataDir, { recursive: true }));
    const database = await testDatabase();
    undo.push(() => database.drop());
    await migrate(database);
    const store = await openStore({ ...database, log: silent });
    undo.push(() => store.close());
    const host = new FakeHost();
    const secrets = createSecretBox(await loadMasterKey(join(dataDir, 'master.key')));
    const engine = createEngine({
      store: store.agents,
      logs: store.agentLogs,
      events: store.events,
      driver: createFakeDriver(host),
      beforeEnd: () => Promise.resolve(),
      images: noImages,
      runtimes: new Map([['runtime_a', createOpenclawRuntime()]]),
      gateway: createGateway(),
      providers: builtinProviders,
      secrets,
      log: silent,
      defaultModel: 'anthropic/claude-sonnet-5',
      maxAgentsPerAccount: 1,
      memory: { reservedMib: 1024, overcommit: 1 },
      holder: 'test',
      provisionTimeoutMs: 60_000,
      channels: channelParts(store),
      schedules: { store: store.schedules, runs: store.scheduleRuns },
      hooks: { store: store.hooks, turns: store.hookTurns, tokens: cryptography.tokens },
    });
    const verifier = createApiKeyVerifier({ apiKeys: cryptography.apiKeys, store: store.apiKeys, log: silent });
    undo.push(() => verifier.close());
    const accounts = createAccounts({
      crypto: cryptography,
      store: store.accounts,
      secrets,
      log: silent,
      registrationOpen: false,
    });
    undo.push(() => accounts.close());
    const parts = openConnections({
      directory: store.connections,
      grants: store.connectionGrants,
      secrets,
      logs: store.agentLogs,
      log: silent,
      addresses: 'public',
      egressProxy: null,
    });
    undo.push(() => parts.close());
    const connections = createConnections({
      agents: engine.agents,
      store: store.connections,
      grants: store.connectionGrants,
      oauthSessions: store.oauthSessions,
      consent: parts.consent,
      secrets,
      anyAddress: false,
    });
    const prefixes = { runtime_a: 'openclaw', runtime_b: 'hermes' };
    const app = createHttpApp({
      agents: engine.agents,
      runTurn: engine.runTurn,
      verifier,
      channels: { channels: engine.channels, origin: () => 'http://localhost' },
      schedules: engine.schedules,
      hooks: { hooks: engine.hooks, origin: () => 'http://localhost' },
      connections: { connections, origin: () => 'http://localhost' },
      places: { ports: store.agentPorts, visits: createAgentVisits(store.agentVisits, cryptography.tokens) },
      webhooks: webhooksOver(store, { secrets, log: silent }).webhooks,
      audit: store.audit,
      events: store.events,
      accounts,
      usage: store.usage,
      ready: () => ({ ready: true, step: null }),
      agentUrl: { scheme: 'http', domain: 'agents.localhost', port: null, prefixes },
      createWaitMs: 0,
      lifecycleWaitMs: 0,
      chatTimeoutMs: 5000,
      version: '0',
      log: silent,
    });
    undo.push(() => app.close());
    const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
    const client = new Client(database);
    await client.connect();
    undo.push(() => client.end());
    return { baseUrl, store, client, host, close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Service = Awaited<ReturnType<typeof startService>>;

/** Keys of every kind, and the one agent. */
async function prepare({ baseUrl, store, client }: Service): Promise<Facts> {
  const all = makeApiKey();
  const first = { name: 'all', hash: hashApiKey(all), last4: lastFour(all), scopes, expiresAt: null };
  const { accountId } = (await store.apiKeys.createFirstAccount('test', first))!;
  const keyWith = async (scopes: Scope[], expiresAt: Date | null = null): Promise<string> => {
    const key = makeApiKey();
    const row = { name: scopes.join(), hash: hashApiKey(key), last4: lastFour(key), scopes, expiresAt };
    await store.apiKeys.insert(accountId, row);
    return key;
  };
  const revoked = await keyWith(['agents:read']);
  await client.query('update api_keys set revoked_at = now() where hash = $1', [hashApiKey(revoked)]);
  const created = await fetch(`${baseUrl}/v1/agents`, {
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

/** Everything in the database but when keys were last used and agents last asked for, and what holds them awake. */
async function contents(client: Client): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_name <> 'agent_holds' order by 1",
  );
  assert.ok(rows.length >= 5);
  const query = rows
    .map(
      ({ name }) =>
        `select '${name}' as name, to_jsonb(t) - '{last_used_at,last_active_at}'::text[] as row from "${name}" t`,
    )
    .join(' union all ');
  return JSON.stringify((await client.query(`${query} order by 1, 2`)).rows);
}

let service: Service;
let facts: Facts;

before(async () => {
  service = await startService();
  facts = await prepare(service);
});
after(() => service?.close());

async function send({ method = 'POST', path, key = 'all', headers = {}, json, body }: BadRequest): Promise<Response> {
  const credentials = key === null ? {} : { 'x-api-key': facts.keys[key] };
  const content = json === undefined ? body : JSON.stringify(json);
  const isText = typeof content === 'string';
  return fetch(`${service.baseUrl}${path.replace('{id}', facts.agentId)}`, {
    method,
    headers: { ...credentials, ...(content !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(content !== undefined && { body: isText ? content : new Blob([content as Uint8Array<ArrayBuffer>]) }),
    ...(content instanceof ReadableStream && { body: content, duplex: 'half' }),
  });
}

describe('bad input', () => {
  test('the table has a row for every way to get it wrong, and each but once', () => {
    const titles = badRequests.map(({ title }) => title);
    assert.ok(titles.length >= 60, String(titles.length));
    assert.equal(new Set(titles).size, titles.length);
  });

  for (const request of badRequests) {
    const { title, status, type, code, names } = request;
    test(`${title}: ${status} ${code}`, async () => {
      const before = await contents(service.client);
      const response = await send(request);
      const text = await response.text();
      assert.equal(response.status, status, text);
      assert.match(response.headers.get('content-type') ?? '', /^application\/json\b/);
      assert.match(response.headers.get('x-request-id') ?? '', /^req_/);
      if (status === 401) assert.equal(response.headers.get('www-authenticate'), 'Bearer');
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
      assert.equal(await contents(service.client), before, 'the database is as it was');
    });
  }

  test('a create that does not fit into memory: 503 insufficient_capacity, and nothing is left', async () => {
    await service.client.query("update agents set deleted_at = now(), desired = 'deleted'");
    service.host.memory = { totalMib: 4096, availableMib: 4000 };
    const before = await contents(service.client);
    const headers = { 'x-api-key': facts.keys.all, 'content-type': 'application/json' };
    const create = { method: 'POST', headers, body: '{"name":"x","size":"xlarge"}' };
    const response = await fetch(`${service.baseUrl}/v1/agents`, create);
    assert.equal(response.status, 503);
    assert.match(response.headers.get('retry-after') ?? '', /^\d+$/);
    const { error } = (await response.json()) as { error: { type: string; code: string } };
    assert.deepEqual([error.type, error.code], ['server_error', 'insufficient_capacity']);
    assert.equal(await contents(service.client), before);
    assert.equal(service.host.vms.size, 0);
  });
});
