import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openApp } from '../../../../../../packages/testkit/src/plane/http/open-app.ts';

const { call, agent, close } = await openApp();
after(close);

async function withAgent(columns: Record<string, unknown> = {}) {
  const id = await agent({}, columns);
  const path = `/v1/agents/${id}/members`;
  return { id, path, add: (body: unknown) => call('POST', path, { body }) };
}
const namesOf = ({ data }: { data: { name: string }[] }) => data.map(({ name }) => name);
const errorOf = ({ status, body }: { status: number; body: { error: { code: string; message: string } } }) =>
  [status, body.error.code] as const;

test('a member is added, read, listed, changed and removed', async () => {
  const { id, path, add } = await withAgent();
  const added = await add({ name: 'scout', instructions: 'Look.\nTwice.' });
  assert.equal(added.status, 201, added.text);
  const { created_at, ...record } = added.body;
  assert.match(created_at, /Z$/);
  assert.deepEqual(record, {
    object: 'member',
    agent_id: id,
    name: 'scout',
    model: null,
    instructions: 'Look.\nTwice.',
    chat_model: `${id}/scout`,
    workspace: 'members/scout',
    // No machine has it yet.
    pending: true,
  });
  assert.deepEqual((await call('GET', `${path}/scout`)).body, added.body);
  await add({ name: 'writer', model: 'anthropic/claude-sonnet-5' });
  const { body: list } = await call('GET', path);
  assert.deepEqual([list.object, list.has_more, namesOf(list)], ['list', false, ['scout', 'writer']]);
  const changed = await call('PATCH', `${path}/scout`, { body: { model: 'openai/m', instructions: null } });
  assert.deepEqual([changed.status, changed.body.model, changed.body.instructions], [200, 'openai/m', null]);
  const removed = await call('DELETE', `${path}/scout`);
  assert.deepEqual([removed.status, removed.body.object, removed.body.deleted], [200, 'member.deleted', true]);
  assert.deepEqual(namesOf((await call('GET', path)).body), ['writer']);
});

test('members are models: of the agent, and of all', async () => {
  const { id, add } = await withAgent();
  await add({ name: 'scout' });
  for (const path of ['/v1/models', `/v1/agents/${id}/models`]) {
    const models = (await call('GET', path)).body.data as { id: string; name: string }[];
    assert.deepEqual(
      models.filter((model) => model.id.startsWith(id)).map((model) => [model.id, model.name]),
      [
        [id, 'Support bot'],
        [`${id}/scout`, 'scout'],
      ],
    );
  }
});

test('400: names, instructions and fields that cannot be', async () => {
  const { add, path } = await withAgent();
  await add({ name: 'ok' });
  const wrong: [unknown, RegExp][] = [
    [{}, /^name is required/],
    [{ name: 'main' }, /^name must be 2 to 32/],
    [{ name: 'default' }, /^name/],
    [{ name: 'openclaw' }, /^name/],
    [{ name: 'A' }, /^name/],
    [{ name: 'a' }, /^name/],
    [{ name: '../x' }, /^name/],
    [{ name: 'x-' }, /^name/],
    [{ name: `a${'b'.repeat(32)}` }, /^name/],
    [{ name: 'x1', instructions: 'ä'.repeat(16_385) }, /^instructions must have at most 32768 bytes/],
    [{ name: 'x1', instructions: 'a\0' }, /^instructions/],
    [{ name: 'x1', instructions: 1 }, /^instructions/],
    [{ name: 'x1', models: 'a/b' }, /^models is not a known field/],
  ];
  for (const [body, message] of wrong) {
    const answer = await add(body);
    assert.deepEqual(errorOf(answer), [400, 'invalid_request'], JSON.stringify(body));
    assert.match(answer.body.error.message, message);
  }
  const patched = await call('PATCH', `${path}/ok`, { body: { name: 'other' } });
  assert.deepEqual(errorOf(patched), [400, 'invalid_request']);
  assert.deepEqual(namesOf((await call('GET', path)).body), ['ok']);
});

test('a name twice is 409, the seventeenth member 429, and too many instructions together 400', async () => {
  const { add } = await withAgent();
  for (let n = 0; n < 4; n += 1)
    assert.equal((await add({ name: `m${n}`, instructions: 'x'.repeat(32_768) })).status, 201);
  const full = await add({ name: 'more', instructions: 'x' });
  assert.deepEqual(errorOf(full), [400, 'invalid_request']);
  assert.match(full.body.error.message, /^instructions of all members together/);
  assert.deepEqual(errorOf(await add({ name: 'm1' })), [409, 'member_exists']);
  for (let n = 4; n < 16; n += 1) assert.equal((await add({ name: `m${n}` })).status, 201);
  assert.deepEqual(errorOf(await add({ name: 'm16' })), [429, 'quota_exceeded']);
});

test('404: of no agent, of no member', async () => {
  const { path } = await withAgent();
  const nowhere = `/v1/agents/${'a'.repeat(12)}/members`;
  assert.deepEqual(errorOf(await call('GET', nowhere)), [404, 'agent_not_found']);
  assert.deepEqual(errorOf(await call('POST', nowhere, { body: { name: 'scout' } })), [404, 'agent_not_found']);
  for (const method of ['GET', 'DELETE'] as const) {
    assert.deepEqual(errorOf(await call(method, `${path}/scout`)), [404, 'member_not_found']);
  }
  const patched = await call('PATCH', `${path}/scout`, { body: {} });
  assert.deepEqual(errorOf(patched), [404, 'member_not_found']);
});

test('400: a runtime that holds a single agent says so', async () => {
  const { path } = await withAgent({ runtime_kind: 'runtime_b' });
  for (const at of [path, `${path}/scout`]) {
    const answer = await call('GET', at);
    assert.deepEqual(errorOf(answer), [400, 'invalid_request']);
    assert.match(answer.body.error.message, /holds a single agent/);
  }
});

test('403: reading takes agents:read, changing agents:write', async () => {
  const { path } = await withAgent();
  assert.equal((await call('GET', path, { key: 'agents:chat' })).status, 403);
  assert.equal((await call('POST', path, { key: 'agents:read', body: { name: 'scout' } })).status, 403);
  assert.equal((await call('DELETE', `${path}/scout`, { key: 'agents:read' })).status, 403);
});
