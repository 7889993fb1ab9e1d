import { defaultLifecycle } from '@lodge/domain';
import assert from 'node:assert/strict';
import { after, afterEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openApp } from '../../../../../../packages/testkit/src/plane/http/open-app.ts';

const waits: AbortSignal[] = [];
const { call, sql, app, host, key, baseUrl, logged, close } = await openApp({
  machines: true,
  settings: { LODGE_CREATE_WAIT_MS: '400' },
  api: (usual) => ({
    ...usual,
    agents: {
      ...usual.agents,
      awaitStatus: (account, id, timeoutMs, signal, wanted) => {
        waits.push(signal);
        return usual.agents.awaitStatus(account, id, timeoutMs, signal, wanted);
      },
    },
  }),
});
after(close);
afterEach(() => (host.behaviour = () => Promise.resolve()));

const count = async () => Number((await sql('select count(*) from agents'))[0]!['count']);
/** No machine is made until the test is over, or the server. */
const hold = (): void => {
  host.behaviour = (_step, _call, signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))));
};

test('201: a name alone is enough; the record is whole, with every default', async () => {
  const answer = await call('POST', '/v1/agents', { body: { name: '  Support bot ' } });
  const { id, created_at, updated_at, started_at } = answer.body;
  assert.equal(answer.status, 201);
  assert.equal(answer.headers['location'], `/v1/agents/${id}`);
  for (const at of [created_at, updated_at, started_at]) assert.match(at, /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);
  assert.deepEqual(answer.body, {
    object: 'agent',
    id,
    name: 'Support bot',
    description: null,
    instructions: null,
    settings_pending: false,
    status: 'running',
    status_reason: null,
    transition: null,
    runtime_kind: 'runtime_a',
    runtime: { name: 'fake', version: '1' },
    upgrade_available: false,
    model: 'anthropic/claude-sonnet-5',
    size: 'medium',
    machine: { vcpus: 2, memory_mb: 4096, disk_gb: 10 },
    disk: { limit_gb: 10, used_gb: null },
    url: `http://openclaw-${id}.agents.localhost:${new URL(baseUrl).port}`,
    dashboard_url: null,
    browser: false,
    llm_keys: [],
    channels: [],
    lifecycle: {
      idle_timeout_seconds: 45,
      stop_after_seconds: 1800,
      keep_awake: 'auto',
      auto_resume: true,
      auto_start: false,
      wake_on_message: true,
    },
    spend_limit: null,
    egress: { mode: 'public', allow: [] },
    env: {},
    packages: { apt: [], pip: [], npm: [] },
    packages_error: null,
    confirmations: null,
    models: null,
    peers: [],
    snapshots: { every_turns: null, every: null, keep: 10, keep_days: 30 },
    forked_from: null,
    labels: {},
    metadata: {},
    created_at,
    updated_at,
    started_at,
    paused_at: null,
    stopped_at: null,
    last_active_at: null,
  });
});

/** Fields that come back as they were given. */
const asGiven = {
  name: 'ä'.repeat(100),
  model: 'openai/gpt-5',
  description: 'Answers in #help',
  labels: { 'example.com/team': 'support', tier: '' },
  metadata: { team: 'support', 'the key': '' },
  spend_limit: null,
  env: { TZ: 'Europe/Berlin', EMPTY: '', a_9: "It's\n" },
  models: ['openai/gpt-5-mini'],
  peers: ['*'],
  snapshots: { every_turns: 5, every: '2h', keep: 3, keep_days: 7 },
  instructions: 'Be kind.\n',
};

test('201: every field is taken as it was given, and no secret comes back', async () => {
  const apiKey = 'sk-secret-h3Qw';
  const body = {
    ...asGiven,
    llm_keys: [{ provider: 'anthropic', api_key: apiKey }],
    runtime_kind: 'openclaw',
    machine_size: 'xlarge',
    lifecycle: { idle_timeout_seconds: 0, keep_awake: 'always' },
    channels: {},
    egress: { mode: 'allowlist', allow: ['*.Example.com.', '9.9.9.9'] },
    dashboard: false,
  };
  const answer = await call('POST', '/v1/agents', { body });
  assert.equal(answer.status, 201, answer.text);
  const { id, size, machine, runtime_kind, lifecycle, llm_keys, egress } = answer.body;
  for (const [name, value] of Object.entries(asGiven)) assert.deepEqual(answer.body[name], value, name);
  assert.deepEqual(
    [size, machine, runtime_kind],
    ['xlarge', { vcpus: 4, memory_mb: 16_384, disk_gb: 10 }, 'runtime_a'],
  );
  assert.deepEqual(
    [lifecycle.idle_timeout_seconds, lifecycle.keep_awake, lifecycle.stop_after_seconds],
    [0, 'always', defaultLifecycle.stopAfterSeconds],
  );
  const [{ provider, last4, fingerprint }] = llm_keys;
  assert.deepEqual([provider, last4], ['anthropic', 'h3Qw']);
  assert.ok(fingerprint);
  assert.deepEqual(egress, { mode: 'allowlist', allow: ['*.example.com', '9.9.9.9/32'] });
  const kept = JSON.stringify(await sql('select * from llm_keys where agent_id = $1', [id]));
  for (const text of [answer.text, logged.join(), kept]) assert.ok(!text.includes(apiKey));
});

test('201: a name in another script is allowed by its name in DNS', async () => {
  const allowed = async (...allow: string[]) => {
    const answer = await call('POST', '/v1/agents?wait=false', {
      body: { name: 'x', egress: { mode: 'allowlist', allow } },
    });
    return answer.status === 202 ? answer.body.egress.allow : answer.body.error.message;
  };
  assert.deepEqual(
    await allowed('B\u00dcCHER.example', '*.b\u00fccher.example', '\u4f8b\u3048\u3002\u30c6\u30b9\u30c8'),
    ['xn--bcher-kva.example', '*.xn--bcher-kva.example', 'xn--r8jz45g.xn--zckzah'],
  );
  const noNames = [
    '\uff11.1.1.1',
    '0x7f\u30021',
    'b\u00fccher.example/24',
    'b\u00fccher.example:443',
    'b\u00fc%41.example',
    '\u2024.example',
    'a\u00fc b.example',
  ];
  for (const name of noNames) assert.match(await allowed(name), /^egress\.allow\[0\] must be a host name/, name);
});

test('400: egress and models name what is wrong by its place', async () => {
  const before = await count();
  const wrong: [unknown, RegExp][] = [
    [{ egress: 'none' }, /^egress must be an object or null/],
    [{ egress: { mode: 'open' } }, /^egress\.mode must be one of public, allowlist, none/],
    [{ egress: { mode: null } }, /^egress\.mode must be/],
    [{ egress: { deny: [] } }, /^egress\.deny is not a known field/],
    [{ egress: { mode: 'allowlist', allow: 'a.example' } }, /^egress\.allow must be an array/],
    [{ egress: { mode: 'allowlist', allow: [1] } }, /^egress\.allow\[0\] must be a string/],
    [{ egress: { mode: 'allowlist', allow: [''] } }, /^egress\.allow\[0\] must not be blank/],
    [{ egress: { mode: 'allowlist', allow: ['x'.repeat(257)] } }, /^egress\.allow\[0\] must have at most 256/],
    [{ egress: { mode: 'allowlist', allow: Array(101).fill('a.example') } }, /^egress\.allow must have at most 100/],
    [{ egress: { allow: ['a.example'] } }, /^egress\.allow is for mode allowlist/],
    [{ egress: { mode: 'none', allow: ['a.example'] } }, /^egress\.allow is for mode allowlist/],
    [
      { egress: { mode: 'allowlist', allow: ['a.example', 'b.example', 'c.example', '10.0.0.1'] } },
      /^egress\.allow\[3\] .*public/,
    ],
    [{ egress: { mode: 'allowlist', allow: ['::1'] } }, /^egress\.allow\[0\] is an IPv6 address/],
    [{ snapshots: { every: '1m' } }, /^snapshots\.every must be/],
    [{ peers: ['Nobody'] }, /^peers\[0\] must be/],
    [{ peers: Array(33).fill('*') }, /^peers must have at most 32/],
    [{ models: 'p/m' }, /^models must be an array or null/],
    [{ models: [null] }, /^models\[0\] must be a string/],
    [{ models: ['x'.repeat(201)] }, /^models\[0\] must have at most 200/],
    [{ models: Array(101).fill('p/m') }, /^models must have at most 100/],
  ];
  for (const [body, message] of wrong) {
    for (const [method, url] of [
      ['POST', '/v1/agents'],
      ['PATCH', '/v1/agents/k7d2m9q4x1ab'],
    ] as const) {
      const answer = await call(method, url, { body: { name: 'x', ...(body as object) } });
      assert.deepEqual([answer.status, answer.body.error.code], [400, 'invalid_request'], JSON.stringify(body));
      assert.match(answer.body.error.message, message);
    }
  }
  assert.equal(await count(), before);
});

test('size and its other name may both be given when they agree', async () => {
  const same = { name: 'x', size: 'small', machine_size: 'small' };
  assert.equal((await call('POST', '/v1/agents?wait=false', { body: same })).body.size, 'small');
  const different = await call('POST', '/v1/agents', { body: { ...same, machine_size: 'large' } });
  assert.equal(different.status, 400);
  assert.match(different.body.error.message, /size and machine_size/);
});

test('instructions have 32 KB of UTF-8, and nothing but white space is none', async () => {
  const create = (instructions: unknown) =>
    call('POST', '/v1/agents?wait=false', { body: { name: 'x', instructions } });
  assert.equal((await create('ä'.repeat(16_384))).status, 202);
  const long = await create(`ä${'ä'.repeat(16_384)}`);
  assert.deepEqual([long.status, long.body.error.code], [400, 'invalid_request']);
  assert.match(long.body.error.message, /^instructions must have at most 32768 bytes/);
  assert.equal((await create(7)).status, 400);
  assert.equal((await create(' \n ')).body.instructions, null);
});

test('404: an agent that was deleted while its create waited', async () => {
  hold();
  waits.length = 0;
  const creating = call('POST', '/v1/agents', { body: { name: 'Gone' } });
  while (waits.length < 1) await sleep(5);
  const [row] = await sql("select id from agents where name = 'Gone'");
  assert.equal((await call('DELETE', `/v1/agents/${String(row!['id'])}`)).status, 200);
  const answer = await creating;
  assert.deepEqual([answer.status, answer.body.error.code], [404, 'agent_not_found']);
});

describe('202', () => {
  test('an agent that does not run within the wait comes back in provisioning', async () => {
    hold();
    const answer = await call('POST', '/v1/agents', { body: { name: 'x' } });
    assert.deepEqual([answer.status, answer.body.status], [202, 'provisioning']);
    assert.equal(answer.headers['location'], `/v1/agents/${answer.body.id}`);
  });

  test('Prefer: respond-async and wait=false do not wait', async () => {
    hold();
    waits.length = 0;
    for (const prefer of ['respond-async', 'return=minimal, Respond-Async;x=y']) {
      const answer = await call('POST', '/v1/agents', { body: { name: 'x' }, headers: { prefer } });
      assert.deepEqual([answer.status, answer.body.status], [202, 'provisioning']);
      assert.equal(answer.headers['preference-applied'], 'respond-async');
    }
    const answer = await call('POST', '/v1/agents?wait=false', { body: { name: 'x' } });
    assert.deepEqual([answer.status, answer.body.status], [202, 'provisioning']);
    assert.equal(waits.length, 0);
  });

  test('the wait is given up when the client goes away, and when the service closes', async () => {
    hold();
    waits.length = 0;
    const headers = { 'x-api-key': await key('all'), 'content-type': 'application/json' };
    const create = (signal?: AbortSignal) =>
      fetch(`${baseUrl}/agents`, { method: 'POST', headers, body: '{"name":"x"}', ...(signal && { signal }) });
    const client = new AbortController();
    const gone = create(client.signal);
    while (waits.length < 1) await sleep(5);
    client.abort();
    await assert.rejects(gone);
    const waiting = create();
    while (waits.length < 2) await sleep(5);
    while (!waits[0]!.aborted) await sleep(5);
    assert.equal(waits[1]!.aborted, false);
    const closed = app.close();
    assert.equal((await waiting).status, 202);
    await closed;
  });
});
