import { Refusal } from '@lodge/domain';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { testApp } from '../../../../../../packages/testkit/src/plane/http/test-app.ts';

test('201: a name alone is enough; the record is whole, with every default', async () => {
  const { call, agents } = testApp();
  const answer = await call('POST', '/v1/agents', { body: { name: '  Support bot ' } });
  const { id } = agents.rows[0]!;
  assert.equal(answer.status, 201);
  assert.equal(answer.headers['location'], `/v1/agents/${id}`);
  const at = '2026-01-31T12:00:00.000Z';
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
    runtime: { name: 'openclaw', version: '2026.9.6' },
    upgrade_available: false,
    model: 'anthropic/claude-sonnet-5',
    size: 'medium',
    machine: { vcpus: 2, memory_mb: 4096, disk_gb: 10 },
    disk: { limit_gb: 10, used_gb: 0.13 },
    url: `http://openclaw-${id}.agents.localhost:8080`,
    dashboard_url: null,
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
    models: null,
    peers: [],
    labels: {},
    metadata: {},
    created_at: at,
    updated_at: at,
    started_at: null,
    paused_at: null,
    stopped_at: null,
    last_active_at: null,
  });
});

test('201: every field is taken as it was given, and no secret comes back', async () => {
  const { call, agents, logged } = testApp();
  const apiKey = 'sk-secret-h3Qw';
  const body = {
    name: 'ä'.repeat(100),
    model: 'openai/gpt-5',
    description: 'Answers in #help',
    llm_keys: [{ provider: 'anthropic', api_key: apiKey }],
    runtime_kind: 'openclaw',
    machine_size: 'xlarge',
    lifecycle: { idle_timeout_seconds: 0, keep_awake: 'always' },
    labels: { 'example.com/team': 'support', tier: '' },
    metadata: { team: 'support', 'the key': '' },
    channels: {},
    spend_limit: null,
    egress: { mode: 'allowlist', allow: ['*.Example.com.', '9.9.9.9'] },
    models: ['openai/gpt-5-mini'],
    peers: ['*'],
    instructions: 'Be kind.\n',
    dashboard: false,
  };
  const answer = await call('POST', '/v1/agents', { body });
  assert.equal(answer.status, 201, answer.text);
  const { name, model, description, size, machine, runtime_kind, lifecycle, metadata, llm_keys } = answer.body;
  assert.deepEqual(
    [name, model, description, size, machine, runtime_kind, metadata],
    [
      body.name,
      body.model,
      body.description,
      'xlarge',
      { vcpus: 4, memory_mb: 16384, disk_gb: 10 },
      'runtime_a',
      body.metadata,
    ],
  );
  assert.deepEqual(
    [lifecycle.idle_timeout_seconds, lifecycle.keep_awake, lifecycle.stop_after_seconds],
    [0, 'always', 1800],
  );
  assert.deepEqual(llm_keys, [
    { provider: 'anthropic', last4: 'h3Qw', fingerprint: null, created_at: '2026-01-31T12:00:00.000Z' },
  ]);
  assert.deepEqual(answer.body.labels, body.labels);
  assert.deepEqual(answer.body.egress, { mode: 'allowlist', allow: ['*.example.com', '9.9.9.9/32'] });
  assert.deepEqual(answer.body.models, ['openai/gpt-5-mini']);
  assert.deepEqual(answer.body.peers, ['*']);
  assert.equal(agents.created[0]!.instructions, 'Be kind.\n');
  assert.deepEqual(agents.created[0]!.llmKeys, [{ provider: 'anthropic', apiKey }]);
  assert.ok(!answer.text.includes(apiKey) && !logged.join().includes(apiKey));
});

test('201: a name in another script is allowed by its name in DNS', async () => {
  const { call } = testApp();
  const allowed = async (...allow: string[]) => {
    const answer = await call('POST', '/v1/agents', { body: { name: 'x', egress: { mode: 'allowlist', allow } } });
    return answer.status === 201 ? answer.body.egress.allow : answer.body.error.message;
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
  const { call, agents } = testApp();
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
  assert.deepEqual(agents.created, []);
});

test('201: size and its other name may both be given when they agree', async () => {
  const { call } = testApp();
  const same = { name: 'x', size: 'small', machine_size: 'small' };
  assert.equal((await call('POST', '/v1/agents', { body: same })).body.size, 'small');
  const different = await call('POST', '/v1/agents', { body: { ...same, machine_size: 'large' } });
  assert.equal(different.status, 400);
  assert.match(different.body.error.message, /size and machine_size/);
});

describe('202', () => {
  test('an agent that does not run within the wait comes back in provisioning', async () => {
    const { call, agents } = testApp();
    agents.settle = (row) => row;
    const answer = await call('POST', '/v1/agents', { body: { name: 'x' } });
    assert.deepEqual([answer.status, answer.body.status], [202, 'provisioning']);
    assert.equal(answer.headers['location'], `/v1/agents/${answer.body.id}`);
  });

  test('Prefer: respond-async and wait=false do not wait', async () => {
    const { call, agents } = testApp();
    agents.settle = () => assert.fail('waited');
    for (const prefer of ['respond-async', 'return=minimal, Respond-Async;x=y']) {
      const answer = await call('POST', '/v1/agents', { body: { name: 'x' }, headers: { prefer } });
      assert.deepEqual([answer.status, answer.body.status], [202, 'provisioning']);
      assert.equal(answer.headers['preference-applied'], 'respond-async');
    }
    const answer = await call('POST', '/v1/agents?wait=false', { body: { name: 'x' } });
    assert.deepEqual([answer.status, answer.body.status], [202, 'provisioning']);
  });

  test('the wait is given up when the client goes away, and when the service closes', async () => {
    const { app, agents } = testApp();
    const waits: AbortSignal[] = [];
    agents.awaitStatus = (...given: unknown[]) => {
      const signal = given[3] as AbortSignal;
      waits.push(signal);
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(agents.rows[0]!)));
    };
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const create = (signal?: AbortSignal) =>
      fetch(`${url}/v1/agents`, {
        method: 'POST',
        headers: { 'x-api-key': 'all', 'content-type': 'application/json' },
        body: '{"name":"x"}',
        ...(signal && { signal }),
      });
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

test('500 provisioning_failed: the agent stays, in error, and X-Agent-Id names it', async () => {
  const { call, agents } = testApp();
  const statusReason = { code: 'provisioning_timeout', message: 'It took too long.', at: new Date() } as const;
  agents.settle = (row) => ({ ...row, status: 'error', statusReason });
  const answer = await call('POST', '/v1/agents', { body: { name: 'x' } });
  assert.equal(answer.status, 500);
  assert.deepEqual(answer.body.error, {
    type: 'server_error',
    code: 'provisioning_failed',
    message: 'The agent did not start. It took too long.',
  });
  assert.equal(answer.headers['x-agent-id'], agents.rows[0]!.id);
});

test('404: an agent that was deleted while its create waited', async () => {
  const { call, agents } = testApp();
  agents.settle = () => null;
  const answer = await call('POST', '/v1/agents', { body: { name: 'x' } });
  assert.deepEqual([answer.status, answer.body.error.code], [404, 'agent_not_found']);
});

test("the engine's refusals have the contract's status and type; 429 and 503 say when to try again", async () => {
  const { call, agents } = testApp();
  for (const [code, status, type] of [
    ['invalid_request', 400, 'invalid_request_error'],
    ['insufficient_capacity', 503, 'server_error'],
    ['quota_exceeded', 429, 'rate_limit_error'],
  ] as const) {
    agents.refusal = new Refusal(code, 'Because.');
    const answer = await call('POST', '/v1/agents', { body: { name: 'x' } });
    assert.deepEqual([answer.status, answer.body.error], [status, { type, code, message: 'Because.' }]);
    assert.equal(answer.headers['retry-after'] === undefined, status === 400);
  }
});

test('instructions have 32 KB of UTF-8, and nothing but white space is none', async () => {
  const { call, agents } = testApp();
  const create = (instructions: unknown) => call('POST', '/v1/agents', { body: { name: 'x', instructions } });
  assert.equal((await create('ä'.repeat(16_384))).status, 201);
  const long = await create(`ä${'ä'.repeat(16_384)}`);
  assert.deepEqual([long.status, long.body.error.code], [400, 'invalid_request']);
  assert.match(long.body.error.message, /^instructions must have at most 32768 bytes/);
  assert.equal((await create(7)).status, 400);
  await create(' \n ');
  assert.equal(agents.created.at(-1)?.instructions, null);
});
