import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openApp } from '../../../../../../packages/testkit/src/plane/http/open-app.ts';

const { call, running, host, logged, sql, close } = await openApp({ machines: true });
after(close);

async function withAgent(given: object = {}) {
  const id = await running(given);
  const patch = (body: unknown, headers: Record<string, string> = {}) =>
    call('PATCH', `/v1/agents/${id}`, { body, headers });
  return { id, patch };
}

test('200: only what is given changes, and the record comes back with its ETag', async () => {
  const { patch, id } = await withAgent({ description: 'old' });
  const { body: before } = await call('GET', `/v1/agents/${id}`);
  const answer = await patch({ name: '  Ada ' });
  assert.equal(answer.status, 200);
  const { updated_at, last_active_at } = answer.body;
  assert.deepEqual(answer.body, { ...before, name: 'Ada', updated_at, last_active_at });
  assert.match(String(answer.headers['etag']), /^"/);
  assert.deepEqual((await patch({})).body.name, 'Ada');
});

const given = {
  name: 'Ada',
  description: 'x',
  model: 'openai/gpt-5',
  spend_limit: { daily_usd: '5', monthly_usd: null, action: 'pause' },
  models: ['openai/gpt-5-mini'],
  peers: ['*'],
  instructions: 'Be kind.',
};

test('200: every field is taken as it was given, null resets it to its default, and no secret comes back', async () => {
  const { patch, id } = await withAgent({ labels: { old: 'x' }, metadata: { old: 'x' } });
  const { body: before } = await call('GET', `/v1/agents/${id}`);
  const answer = await patch({
    ...given,
    llm_keys: [
      { provider: 'openai', api_key: 'sk-secret-of-ada' },
      { provider: 'anthropic', api_key: null },
    ],
    machine_size: 'large',
    lifecycle: { idle_timeout_seconds: 0, auto_start: true, keep_awake: null },
    labels: { team: 'support', old: null },
    metadata: { team: 'support', old: null },
    egress: { mode: 'allowlist', allow: ['API.example.com'] },
    dashboard: false,
  });
  assert.equal(answer.status, 200, answer.text);
  const changed = answer.body;
  for (const [name, value] of Object.entries(given)) assert.deepEqual(changed[name], value, name);
  assert.deepEqual(
    changed.llm_keys.map(({ provider, last4 }: { provider: string; last4: string }) => [provider, last4]),
    [['openai', '-ada']],
  );
  assert.deepEqual(
    [changed.size, changed.labels, changed.metadata],
    ['large', { team: 'support' }, { team: 'support' }],
  );
  const lifecycle = { ...before.lifecycle, idle_timeout_seconds: 0, auto_start: true, keep_awake: 'auto' };
  assert.deepEqual(changed.lifecycle, lifecycle);
  assert.deepEqual(changed.egress, { mode: 'allowlist', allow: ['api.example.com'] });
  const kept = JSON.stringify(await sql('select * from agents join llm_keys on id = agent_id'));
  for (const text of [answer.text, logged.join(), kept]) assert.ok(!text.includes('sk-secret'));

  const names = ['description', 'model', 'size', 'lifecycle', 'metadata', 'llm_keys', 'labels', 'egress', 'models'];
  const nulls = [...names, 'env', 'packages', 'peers', 'spend_limit', 'instructions'].map((name) => [name, null]);
  const reset = await patch(Object.fromEntries(nulls));
  assert.equal(reset.status, 200, reset.text);
  const lifecycleBefore = { ...before.lifecycle, idle_timeout_seconds: 45 };
  const whole = { ...before, name: 'Ada', labels: {}, metadata: {}, lifecycle: lifecycleBefore };
  // They follow the machine, which takes the larger size meanwhile.
  const { updated_at, last_active_at, machine } = reset.body;
  assert.deepEqual(reset.body, { ...whole, updated_at, last_active_at, machine });
});

test('200: egress is replaced as a whole, shows in the record, and has the reply wait for the machine', async () => {
  const { patch, id } = await withAgent({ egress: { mode: 'allowlist', allow: ['a.example'] } });
  const before = (await patch({ name: 'Ada' })).headers['etag'];
  const answer = await patch({ egress: { mode: 'none' } });
  assert.deepEqual([answer.body.egress, answer.body.settings_pending], [{ mode: 'none', allow: [] }, false]);
  assert.equal(host.vms.get(id)?.egress.mode, 'none');
  assert.notEqual(answer.headers['etag'], before);
  const models = await patch({ models: ['openai/m'] });
  assert.deepEqual([models.body.models, models.body.egress.mode], [['openai/m'], 'none']);
});

test('200: variables are replaced as a whole, and null is none', async () => {
  const { patch } = await withAgent({ env: { TZ: 'Europe/Berlin', OLD: '1' } });
  assert.deepEqual((await patch({ env: { TZ: 'UTC' } })).body.env, { TZ: 'UTC' });
  assert.deepEqual((await patch({ name: 'Other' })).body.env, { TZ: 'UTC' });
  assert.deepEqual((await patch({ env: null })).body.env, {});
});

test('200: packages are replaced as a whole behind the reply, and null is none', async () => {
  const { patch } = await withAgent({ packages: { apt: ['jq=1.6-2.1', 'g++'] } });
  const packages = { apt: [], pip: ['uvicorn[standard]==0.30.1'], npm: ['@scope/cli@4', 'a.b'] };
  const { body } = await patch({ packages: { pip: packages.pip, npm: packages.npm } });
  assert.deepEqual([body.packages, body.settings_pending, body.packages_error], [packages, true, null]);
  const none = (await patch({ packages: null })).body;
  assert.deepEqual(none.packages, { apt: [], pip: [], npm: [] });
});

test('200: a size that is not in effect yet shows beside the machine as it is', async () => {
  const { patch } = await withAgent();
  host.behaviour = (step) => (step === 'resize' ? Promise.reject(new Error('not yet')) : Promise.resolve());
  const { body } = await patch({ size: 'large' });
  assert.deepEqual([body.size, body.machine.memory_mb], ['large', 4096]);
});

test('400: each wrong field is named', async () => {
  const { patch, id } = await withAgent();
  const before = (await call('GET', `/v1/agents/${id}`)).text;
  const wrong: [unknown, RegExp][] = [
    [{ name: null }, /^name must be a string/],
    [{ name: '  ' }, /^name must not be blank/],
    [{ name: 'x'.repeat(101) }, /^name must have at most 100/],
    [{ size: 'huge' }, /^size must be one of small, medium, large, xlarge/],
    [{ size: 'small', machine_size: 'large' }, /^size and machine_size/],
    [{ size: null, machine_size: 'large' }, /^size and machine_size/],
    [{ llm_keys: 'none' }, /^llm_keys must be an array or null/],
    [{ llm_keys: [{ provider: 'openai' }] }, /^llm_keys\[0\]\.api_key is required/],
    [{ llm_keys: [{ provider: 'openai', api_key: '' }] }, /^llm_keys\[0\]\.api_key is required and must not be blank/],
    [{ lifecycle: { idle: 1 } }, /^lifecycle\.idle is not a known field/],
    [{ lifecycle: { idle_timeout_seconds: -1 } }, /^lifecycle\.idle_timeout_seconds must be at least 0/],
    [{ metadata: { a: 1 } }, /^metadata\.a must be a string or null/],
    [{ labels: { a: 1 } }, /^labels\.a must be a string or null/],
    [{ labels: { 'A b': 'x' } }, /^labels/],
    [{ runtime_kind: 'runtime_b' }, /^runtime_kind is not a known field/],
    [{ status: 'running' }, /^status is not a known field/],
    [{ spend_limit: { daily_usd: '5' } }, /^spend_limit\.action is required/],
    [{ instructions: 'x'.repeat(32_769) }, /^instructions must have at most 32768/],
    [{ env: ['A=b'] }, /^env must be an object/],
    [{ env: { A: 1 } }, /^env\.A must be a string/],
    [{ env: { '1A': 'x' } }, /^env\.1A must be letters, digits and underscores/],
    [{ env: { 'A=B': 'x' } }, /^env.* must be letters, digits and underscores/],
    [{ env: { A: 'x\0' } }, /^env\.A must not contain NUL/],
    [{ env: { A: 'ä'.repeat(2_049) } }, /^env\.A must have at most 4096 bytes/],
    [{ env: { A: 'x'.repeat(4_097) } }, /^env\.A must have at most 4096 characters/],
    [{ env: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`V${n}`, ''])) }, /^env must have at most 64/],
    [{ env: { LD_PRELOAD: '/tmp/x.so' } }, /^env\.LD_PRELOAD cannot be set, as it loads/],
    [{ env: { https_proxy: 'http://a' } }, /^env\.https_proxy cannot be set/],
    [{ packages: { gem: [] } }, /^packages\.gem is not a known field/],
    [{ packages: { apt: 'jq' } }, /^packages\.apt must be an array/],
    [{ packages: { apt: ['--reinstall'] } }, /^packages\.apt\[0\] must be a name of a Debian package/],
    [{ packages: { apt: ['jq', './a.deb'] } }, /^packages\.apt\[1\] must be a name of a Debian package/],
    [{ packages: { apt: ['jq-'] } }, /^packages\.apt\[0\] must be a name/],
    [{ packages: { apt: ['jq '] } }, /^packages\.apt\[0\] must be a name/],
    [{ packages: { apt: ['jq=latest'] } }, /^packages\.apt\[0\] must be a name/],
    [{ packages: { apt: ['jq', 'jq=1.6-2.1'] } }, /^packages\.apt\[1\] names jq a second time/],
    [{ packages: { pip: ['-e'] } }, /^packages\.pip\[0\] must be a name of a Python package/],
    [{ packages: { pip: ['https://a.example/x.whl'] } }, /^packages\.pip\[0\] must be a name/],
    [{ packages: { pip: ['x.whl'] } }, /^packages\.pip\[0\] is a name of a file/],
    [{ packages: { pip: ['pandas>=2'] } }, /^packages\.pip\[0\] must be a name/],
    [{ packages: { pip: ['a_b', 'A-b==1'] } }, /^packages\.pip\[1\] names a-b a second time/],
    [{ packages: { npm: ['../x'] } }, /^packages\.npm\[0\] must be a name of an npm package/],
    [{ packages: { npm: ['a@npm:b'] } }, /^packages\.npm\[0\] must be a name/],
    [{ packages: { npm: ['owner/repository'] } }, /^packages\.npm\[0\] must be a name/],
    [{ packages: { npm: ['@a/b', '@a/b@1'] } }, /^packages\.npm\[1\] names @a\/b a second time/],
    [{ packages: { npm: Array.from({ length: 51 }, (_, n) => `p${n}`) } }, /^packages\.npm must have at most 50/],
    [[], /^The body must be an object/],
  ];
  for (const [body, message] of wrong) {
    const answer = await patch(body);
    assert.deepEqual([answer.status, answer.body.error?.code], [400, 'invalid_request'], JSON.stringify(body));
    assert.match(answer.body.error.message, message);
  }
  assert.equal((await call('GET', `/v1/agents/${id}`)).text, before);
});

test('412: nothing is changed when the agent is not the one that If-Match speaks of', async () => {
  const { patch, id } = await withAgent();
  const { headers } = await patch({ name: 'One' });
  const etag = String(headers['etag']);
  const second = await patch({ name: 'Two' }, { 'if-match': `"other", ${etag}` });
  assert.equal(second.status, 200);
  for (const stale of [etag, `W/${String(second.headers['etag'])}`, 'nonsense']) {
    const answer = await patch({ name: 'Three' }, { 'if-match': stale });
    assert.deepEqual([answer.status, answer.body.error.code], [412, 'precondition_failed'], stale);
  }
  assert.equal((await call('GET', `/v1/agents/${id}`)).body.name, 'Two');
  assert.equal((await patch({ name: 'Four' }, { 'if-match': '*' })).status, 200);
});

test('404: no such agent, whatever If-Match says, and after the body was looked at', async () => {
  const headers = { 'if-match': '*' };
  for (const id of ['a'.repeat(12), 'none']) {
    const answer = await call('PATCH', `/v1/agents/${id}`, { body: { name: 'x' }, headers });
    assert.deepEqual([answer.status, answer.body.error.code], [404, 'agent_not_found']);
    assert.equal((await call('PATCH', `/v1/agents/${id}`, { body: { nme: 'x' }, headers })).status, 400);
  }
});
