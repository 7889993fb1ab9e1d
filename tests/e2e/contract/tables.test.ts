/** The contract's tables of endpoints, errors and limits, and its ground rules. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { openWorld, send } from '../api/world.ts';
import type { World } from '../api/world.ts';
import { printCounts, row } from './rows.ts';
import { Client } from './states.ts';

let world: World;
let client: Client;
let agentId: string;
before(async () => {
  world = await openWorld({ maxRunning: 40, maxAgents: 40, withGuest: true });
  client = new Client(world);
  agentId = await client.agent('running');
  await world.sql.query(
    `insert into llm_calls (id, agent_id, account_id, provider, model, started_at, outcome)
     values ('kept', $1, $2, 'openai', 'gpt-5', now(), 'ok')`,
    [agentId, world.accountId],
  );
});
after(() => world?.close());
printCounts('tables');

const chat = { messages: [{ role: 'user', content: 'x' }] };
/** Method, path, body, status, the scope that the least key needs. */
const endpoints: readonly [string, string, unknown, number, string?][] = [
  ['POST', '/agents', { name: 'x' }, 201, 'agents:write'],
  ['GET', '/agents', undefined, 200, 'agents:read'],
  ['GET', '/agents/:id', undefined, 200, 'agents:read'],
  ['PATCH', '/agents/:id', { description: 'x' }, 200, 'agents:write'],
  ['POST', '/agents/:id/start', undefined, 200, 'agents:write'],
  ['POST', '/agents/:id/stop', undefined, 200, 'agents:write'],
  ['POST', '/agents/:id/resume', undefined, 200, 'agents:write'],
  ['POST', '/agents/:id/restart', undefined, 200, 'agents:write'],
  ['POST', '/agents/:id/pause', undefined, 200, 'agents:write'],
  ['POST', '/agents/:id/upgrade', undefined, 200, 'agents:write'],
  ['GET', '/agents/:id/logs', undefined, 200, 'agents:read'],
  ['POST', '/agents/:id/chat/completions', chat, 200, 'agents:chat'],
  ['POST', '/chat/completions', { ...chat, model: ':id' }, 200, 'agents:chat'],
  ['POST', '/agents/:id/responses', { input: 'x' }, 200, 'agents:chat'],
  ['POST', '/responses', { input: 'x', model: ':id' }, 200, 'agents:chat'],
  ['GET', '/agents/:id/members', undefined, 200, 'agents:read'],
  ['POST', '/agents/:id/members', { name: 'scout' }, 201, 'agents:write'],
  ['GET', '/agents/:id/members/scout', undefined, 200, 'agents:read'],
  ['PATCH', '/agents/:id/members/scout', { instructions: 'x' }, 200, 'agents:write'],
  ['DELETE', '/agents/:id/members/scout', undefined, 200, 'agents:write'],
  ['GET', '/agents/:id/models', undefined, 200, 'agents:chat'],
  ['GET', '/models', undefined, 200, 'agents:chat'],
  ['POST', '/agents/:id/llm_keys/check', undefined, 200, 'agents:write'],
  ['POST', '/agents/:id/links', {}, 201, 'agents:write'],
  ['POST', '/agents/:id/ports', { port: 3000 }, 201, 'agents:write'],
  ['GET', '/agents/:id/ports', undefined, 200, 'agents:write'],
  ['DELETE', '/agents/:id/ports/3000', undefined, 200, 'agents:write'],
  ['GET', '/agents/:id/files?list=1', undefined, 200, 'agents:read'],
  ['PUT', '/agents/:id/files/a', 'bytes', 201, 'agents:write'],
  ['DELETE', '/agents/:id/files/a', undefined, 200, 'agents:write'],
  ['GET', '/agents/:id/uploads/0123456789abcdef', undefined, 200, 'agents:read'],
  ['POST', '/agents/:id/uploads/0123456789abcdef', { path: 'b', size: 0 }, 201, 'agents:write'],
  ['DELETE', '/agents/:id/uploads/0123456789abcdef', undefined, 200, 'agents:write'],
  ['POST', '/fingerprints', { values: [{ for: 'hook', value: 'x' }] }, 200, 'agents:write'],
  ['POST', '/agents/:id/exec', { command: 'true' }, 200, 'agents:write'],
  ['GET', '/agents/:id/schedules', undefined, 200, 'agents:read'],
  ['POST', '/agents/:id/schedules', { name: 'S', every: '1h', prompt: 'x' }, 201, 'agents:write'],
  ['POST', '/agents/:id/snapshots', { memory: false }, 201, 'agents:write'],
  ['POST', '/agents/:id/restore', { snapshot: 'none' }, 404, 'agents:write'],
  ['POST', '/agents/:id/fork', {}, 201, 'agents:write'],
  ['GET', '/agents/:id/snapshots', undefined, 200, 'agents:read'],
  ['GET', '/snapshots', undefined, 200, 'agents:read'],
  ['GET', '/snapshots/none', undefined, 404, 'agents:read'],
  ['GET', '/snapshots/none/files?list=1', undefined, 404, 'agents:read'],
  ['GET', '/snapshots/none/files/a', undefined, 404, 'agents:read'],
  ['GET', '/snapshots/none/diff?to=now', undefined, 404, 'agents:read'],
  ['PATCH', '/snapshots/none', { name: 'x' }, 404, 'agents:write'],
  ['DELETE', '/snapshots/none', undefined, 404, 'agents:write'],
  ['GET', '/agents/:id/hooks', undefined, 200, 'agents:read'],
  ['POST', '/agents/:id/hooks', { name: 'H' }, 201, 'agents:write'],
  ['GET', '/agents/:id/channels', undefined, 200, 'agents:read'],
  ['PUT', '/agents/:id/channels/slack', { appToken: 'xapp-1', botToken: 'xoxb-1' }, 200, 'agents:write'],
  ['GET', '/agents/:id/channels/slack', undefined, 200, 'agents:read'],
  ['POST', '/agents/:id/channels/slack/restart', undefined, 200, 'agents:write'],
  ['POST', '/agents/:id/channels/slack/test', undefined, 200, 'agents:write'],
  ['GET', '/agents/:id/channels/slack/approvals', undefined, 200, 'agents:read'],
  ['DELETE', '/agents/:id/channels/slack', undefined, 200, 'agents:write'],
  ['PUT', '/agents/:id/connections/c', { kind: 'mcp', url: 'https://mcp.example.com' }, 200, 'agents:write'],
  ['GET', '/agents/:id/connections', undefined, 200, 'agents:read'],
  ['GET', '/agents/:id/connections/c', undefined, 200, 'agents:read'],
  // Its server is nowhere: the least key comes as far as that.
  ['POST', '/agents/:id/connections/c/oauth/start', {}, 409, 'agents:write'],
  ['DELETE', '/agents/:id/connections/c', undefined, 200, 'agents:write'],
  ['GET', '/agents/:id/messages', undefined, 200, 'agents:read'],
  ['GET', '/audit-events', undefined, 200, 'agents:read'],
  ['GET', '/events', undefined, 200, 'agents:read'],
  ['POST', '/webhooks', { url: 'https://example.com/', events: ['*'], enabled: false }, 201, 'agents:write'],
  ['GET', '/webhooks', undefined, 200, 'agents:read'],
  // The hub is nowhere: the least key comes as far as that.
  ['POST', '/skills', { hub: { name: 'clawhub', slug: 'x' } }, 422, 'agents:write'],
  ['GET', '/skills', undefined, 200, 'agents:read'],
  ['GET', '/skills/none', undefined, 404, 'agents:read'],
  ['GET', '/skills/none/versions', undefined, 404, 'agents:read'],
  ['GET', '/skills/none/files/SKILL.md', undefined, 404, 'agents:read'],
  ['DELETE', '/skills/none', undefined, 404, 'agents:write'],
  ['GET', '/agents/:id/skills', undefined, 200, 'agents:read'],
  ['PUT', '/agents/:id/skills/none', {}, 404, 'agents:write'],
  ['GET', '/agents/:id/skills/none', undefined, 404, 'agents:read'],
  ['DELETE', '/agents/:id/skills/none', undefined, 404, 'agents:write'],
  ['GET', '/usage', undefined, 200, 'usage:read'],
  ['GET', '/agents/:id/usage', undefined, 200, 'usage:read'],
  ['GET', '/agents/:id/llm-calls', undefined, 200, 'usage:read'],
  ['GET', '/agents/:id/llm-calls/kept', undefined, 200, 'usage:read'],
  ['GET', '/account', undefined, 200],
  ['PATCH', '/account', { record_llm_calls: false }, 200, 'agents:write'],
  ['GET', '/sizes', undefined, 200],
  ['GET', '/providers', undefined, 200],
  ['GET', '/limits', undefined, 200],
  ['GET', '/health', undefined, 200],
  ['GET', '/openapi.json', undefined, 200],
  ['DELETE', '/agents/:id', undefined, 200, 'agents:delete'],
];
for (const [method, pattern, given, wanted, scope] of endpoints) {
  row('endpoints', `${method} ${pattern}: ${wanted}, ${scope ?? 'any key'}`, async () => {
    const id = method === 'DELETE' && pattern.endsWith(':id') ? await client.agent('running') : agentId;
    const path = pattern.replace(':id', id);
    const body = given === undefined ? undefined : JSON.parse(JSON.stringify(given).replace(':id', id));
    if (scope !== undefined) {
      const poor = await world.keyOf(world.accountId, [scope === 'usage:read' ? 'agents:read' : 'usage:read']);
      const refused = await new Client(world, poor).call(method, path, body);
      assert.deepEqual([refused.status, refused.body.error.code], [403, 'insufficient_scope']);
    }
    const key = await world.keyOf(world.accountId, [(scope ?? 'usage:read') as 'agents:read']);
    const answer = await new Client(world, key).call(method, path, body);
    assert.equal(answer.status, wanted, answer.text);
    assert.match(answer.headers.get('content-type')!, /^application\/json/);
    assert.match(answer.headers.get('x-request-id')!, /^req_[0-9a-f]{32}$/);
    for (const name of ['limit', 'remaining', 'reset']) {
      assert.match(answer.headers.get(`x-ratelimit-${name}`)!, /^\d+$/);
    }
    if (answer.status === 201) await client.call('DELETE', `/agents/${answer.body.id}`);
  });
}

interface Wrong {
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly key?: string | null;
  readonly headers?: Record<string, string>;
}
const makes = (make: () => Wrong | Promise<Wrong>) => make;
const expired = (): Promise<string> => world.keyOf(world.accountId, ['agents:read'], new Date(Date.now() - 1000));
const errors: readonly [number, string, string, () => Wrong | Promise<Wrong>][] = [
  [400, 'invalid_request_error', 'invalid_request', makes(() => ({ method: 'POST', path: '/agents', body: {} }))],
  [400, 'invalid_request_error', 'invalid_json', makes(() => ({ method: 'POST', path: '/agents', body: '{' }))],
  [401, 'authentication_error', 'missing_api_key', makes(() => ({ path: '/agents', key: null }))],
  [401, 'authentication_error', 'invalid_api_key', makes(() => ({ path: '/agents', key: 'x' }))],
  [401, 'authentication_error', 'expired_api_key', makes(async () => ({ path: '/agents', key: await expired() }))],
  [
    401,
    'authentication_error',
    'revoked_api_key',
    makes(async () => {
      const key = await world.keyOf(world.accountId, ['agents:read']);
      await world.sql.query(
        'update api_keys set revoked_at = now() where id = (select id from api_keys order by created_at desc limit 1)',
      );
      return { path: '/agents', key };
    }),
  ],
  [
    403,
    'authorization_error',
    'insufficient_scope',
    makes(async () => ({ path: '/agents', key: await world.keyOf(world.accountId, ['usage:read']) })),
  ],
  [404, 'not_found_error', 'agent_not_found', makes(() => ({ path: '/agents/aaaaaaaaaaaa' }))],
  [404, 'not_found_error', 'agent_not_found', makes(() => ({ path: '/agents/NO' }))],
  [404, 'not_found_error', 'route_not_found', makes(() => ({ path: '/nothing' }))],
  [
    409,
    'invalid_request_error',
    'agent_not_running',
    makes(async () => ({
      method: 'POST',
      path: `/agents/${await client.agent('stopped')}/chat/completions`,
      body: chat,
    })),
  ],
  [
    409,
    'invalid_request_error',
    'agent_transitioning',
    makes(async () => ({ method: 'POST', path: `/agents/${await client.agent('provisioning')}/pause` })),
  ],
  [
    409,
    'invalid_request_error',
    'agent_not_resumable',
    makes(async () => ({ method: 'POST', path: `/agents/${await client.agent('error')}/resume` })),
  ],
  [
    409,
    'invalid_request_error',
    'idempotency_key_reused',
    makes(async () => {
      const headers = { 'idempotency-key': 'reused' };
      await client.call('POST', `/agents/${agentId}/resume`, undefined, { headers });
      return { method: 'POST', path: `/agents/${agentId}/start`, headers };
    }),
  ],
  [
    409,
    'invalid_request_error',
    'idempotency_in_progress',
    makes(async () => {
      const headers = { 'idempotency-key': 'under-way' };
      await client.call('POST', `/agents/${agentId}/resume`, undefined, { headers });
      const again =
        "done_at = null, status = null, headers = null, body = null, lease_until = now() + interval '1 minute'";
      await world.sql.query(`update idempotency_keys set ${again} where key = 'under-way'`);
      return { method: 'POST', path: `/agents/${agentId}/resume`, headers };
    }),
  ],
  [
    429,
    'rate_limit_error',
    'spend_limit_exceeded',
    makes(async () => {
      const id = await client.agent('paused', { spend_limit: { monthly_usd: '1', action: 'pause' } });
      await world.sql.query(
        "insert into spend_windows (scope, id, period, starts, spent_usd) values ('agent', $1, 'month', date_trunc('month', now(), 'UTC'), 1)",
        [id],
      );
      return { method: 'POST', path: `/agents/${id}/chat/completions`, body: chat };
    }),
  ],
  [405, 'invalid_request_error', 'method_not_allowed', makes(() => ({ method: 'PUT', path: '/agents' }))],
  [
    412,
    'invalid_request_error',
    'precondition_failed',
    makes(() => ({
      method: 'PATCH',
      path: `/agents/${agentId}`,
      body: { name: 'y' },
      headers: { 'if-match': '"old"' },
    })),
  ],
  [
    413,
    'invalid_request_error',
    'request_too_large',
    makes(() => ({ method: 'POST', path: '/agents', body: JSON.stringify({ name: 'x'.repeat(1024 * 1024) }) })),
  ],
  [
    415,
    'invalid_request_error',
    'unsupported_media_type',
    makes(() => ({ method: 'POST', path: '/agents', body: 'name=x', headers: { 'content-type': 'text/plain' } })),
  ],
];
for (const [status, type, code, make] of errors) {
  row('errors', `${status} ${code}`, async () => {
    const { method = 'GET', path, body, key = world.key, headers = {} } = await make();
    const answer = await send(world.url, method, `/v1${path}`, { key, body, headers });
    assert.deepEqual(
      [answer.status, answer.body?.error.type, answer.body?.error.code],
      [status, type, code],
      answer.text,
    );
    assert.match(answer.headers.get('x-request-id')!, /^req_/);
    if (status === 401) assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
    if (status === 405) assert.match(answer.headers.get('allow')!, /POST, GET/);
    if (code === 'agent_transitioning' || code === 'idempotency_in_progress' || status === 429)
      assert.ok(answer.headers.get('retry-after'));
  });
}

row('errors', '429 quota_exceeded of agents and of running ones, with Retry-After', async () => {
  const account = await world.newAccount();
  const other = new Client(world, await world.keyOf(account));
  const fill = `insert into agents (id, account_id, name, runtime_kind, model, size, idle_timeout_seconds, stop_after_seconds, keep_awake,
    auto_resume, auto_start, wake_on_message, metadata, created_at, updated_at, status)
    select 'q' || lpad(n::text, 11, '0'), $1, 'x', 'runtime_a', 'a/b', 'small', 0, 0, 'auto', true, false, true, '{}', now(), now(), $2
    from generate_series(1, 40) n`;
  await world.sql.query(fill, [account, 'stopped']);
  const full = await other.call('POST', '/agents', { name: 'x' });
  assert.deepEqual([full.status, full.body.error.code], [429, 'quota_exceeded']);
  assert.match(full.headers.get('retry-after')!, /^\d+$/);
  const limits = (await other.call('GET', '/limits')).body;
  assert.deepEqual(limits.quotas, { agents: { limit: 40, used: 40 }, running_agents: { limit: 40, used: 0 } });
  await world.sql.query("update agents set deleted_at = now(), desired = 'deleted' where account_id = $1", [account]);
});

row('errors', '500 provisioning_failed, with the agent in X-Agent-Id', async () => {
  const { host } = world;
  host.behaviour = (step) => (step === 'start' ? Promise.reject(new Error('told to fail')) : Promise.resolve());
  const answer = await client.call('POST', '/agents', { name: 'x' });
  host.behaviour = () => Promise.resolve();
  assert.deepEqual([answer.status, answer.body.error?.code], [500, 'provisioning_failed'], answer.text);
  const id = answer.headers.get('x-agent-id')!;
  const record = (await client.call('GET', `/agents/${id}`)).body;
  assert.equal(record.status, 'error');
  assert.ok(record.status_reason.code);
  await client.call('DELETE', `/agents/${id}`);
});

const order: readonly [string, string, string, string | null, unknown, number][] = [
  ['401 before 404 of a route', 'GET', '/nothing', null, undefined, 401],
  ['404 of a route before 403', 'GET', '/nothing', 'usage:read', undefined, 404],
  ['403 before 400', 'POST', '/agents', 'usage:read', {}, 403],
  ['403 before 404 of an agent', 'GET', '/agents/aaaaaaaaaaaa', 'usage:read', undefined, 403],
  ['400 before 404 of an agent', 'PATCH', '/agents/aaaaaaaaaaaa', 'agents:write', { nmae: 'x' }, 400],
];
for (const [title, method, path, scope, body, status] of order) {
  row('order of checks', title, async () => {
    const key = scope === null ? null : await world.keyOf(world.accountId, [scope as 'agents:read']);
    const answer = await send(world.url, method, `/v1${path}`, { key, ...(body !== undefined && { body }) });
    assert.equal(answer.status, status, answer.text);
  });
}

row('audit', 'changes of agents by a key are there, with who, what and from where', async () => {
  const id = await client.agent('running');
  await client.call('PATCH', `/agents/${id}`, { name: 'z' });
  await client.call('POST', `/agents/${id}/stop`);
  const deleted = await client.call('DELETE', `/agents/${id}`);
  const { data } = (await client.call('GET', '/audit-events?limit=100')).body;
  const own = data.filter(({ target }: { target: { id: string } | null }) => target?.id === id);
  assert.deepEqual(
    own.map(({ action }: { action: string }) => action),
    ['agent.deleted', 'agent.stop_requested', 'agent.updated', 'agent.created'],
  );
  assert.deepEqual([own[0].actor.type, own[0].address], ['api_key', '127.0.0.1']);
  assert.equal(own[0].request_id, deleted.headers.get('x-request-id'));
});

row('ground rules', 'an unknown field is a 400 that names it', async () => {
  const { status, body } = await client.call('POST', '/agents', { name: 'x', colour: 'red' });
  assert.equal(status, 400);
  assert.match(body.error.message, /colour/);
});
row('ground rules', 'HEAD is GET without a body, OPTIONS says what there is', async () => {
  const head = await client.call('HEAD', '/sizes');
  assert.deepEqual([head.status, head.text], [200, '']);
  const options = await client.call('OPTIONS', '/agents');
  assert.deepEqual([options.status, options.headers.get('allow')], [204, 'POST, GET, HEAD, OPTIONS']);
});
