import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openApp } from '../../../../../../packages/testkit/src/plane/http/open-app.ts';

const { call, running, host, sql, close } = await openApp({ machines: true });
after(close);

const fork = (id: string, body: object, more: object = {}, query = '') =>
  call('POST', `/v1/agents/${id}/fork${query}`, { body, ...more });

test('201: forks run, each with its record; the snapshot and the agent that they are of are in it', async () => {
  const id = await running({ name: 'Ada', labels: { a: '1' } });
  const answer = await fork(id, { count: 2, labels: { b: '2' }, spend_limit: { daily_usd: '1', action: 'block' } });
  assert.equal(answer.status, 201, answer.text);
  const { object, snapshot, data } = answer.body;
  assert.equal(object, 'fork');
  assert.deepEqual(
    data.map((agent: { name: string; status: string; labels: object }) => [agent.name, agent.status, agent.labels]),
    ['Ada fork 1', 'Ada fork 2'].map((name) => [name, 'running', { a: '1', b: '2' }]),
  );
  const { body: saved } = await call('GET', `/v1/snapshots/${snapshot}`);
  assert.deepEqual([saved.kind, saved.status, saved.agent_id], ['fork', 'ready', id]);
  for (const agent of data) {
    assert.deepEqual(agent.forked_from, { agent_id: id, snapshot_id: snapshot, at: saved.created_at });
    assert.deepEqual((await call('GET', `/v1/agents/${agent.id}`)).body.forked_from, agent.forked_from);
  }
  const { body: made } = await call('POST', '/v1/agents', { body: { name: 'New', from: { snapshot } } });
  assert.deepEqual([made.status, made.labels, made.forked_from.agent_id], ['running', {}, id]);
});

test('201: the same request with its Idempotency-Key makes forks once, and answers with them', async () => {
  const id = await running();
  const more = { headers: { 'idempotency-key': 'fork-1' } };
  const first = await fork(id, { count: 2 }, more);
  const second = await fork(id, { count: 2 }, more);
  assert.deepEqual([first.status, second.status, second.body], [201, 201, first.body]);
  // A server that was killed before it could answer has kept no reply.
  await sql(
    'update idempotency_keys set status = null, body = null, headers = null, done_at = null, lease_until = now()',
  );
  const third = await fork(id, { count: 2 }, more);
  const ids = (answer: typeof first) => answer.body.data.map((agent: { id: string }) => agent.id);
  assert.deepEqual([third.status, ids(third), third.body.snapshot], [201, ids(first), first.body.snapshot]);
});

test('202: wait=false does not wait for the forks', async () => {
  const id = await running();
  host.behaviour = (step, { agentId }, signal) =>
    step === 'daemon' && agentId !== id
      ? new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))))
      : Promise.resolve();
  const answer = await fork(id, {}, {}, '?wait=false');
  assert.deepEqual([answer.status, answer.body.data[0].status], [202, 'provisioning']);
  host.behaviour = () => Promise.resolve();
});

test('404 and 409: what an agent cannot be forked from', async () => {
  const id = await running();
  const { body } = await fork(id, {});
  const other = await fork(body.data[0].id, { snapshot: body.snapshot });
  assert.deepEqual([other.status, other.body.error.code], [404, 'snapshot_not_found']);
  await sql(`update snapshots set status = 'damaged', error = 'x' where id = '${body.snapshot}'`);
  const damaged = await fork(id, { snapshot: body.snapshot });
  assert.deepEqual([damaged.status, damaged.body.error.code], [409, 'snapshot_damaged']);
});
