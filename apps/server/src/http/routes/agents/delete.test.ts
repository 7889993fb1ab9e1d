import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentRow, testApp } from '../../../../../../packages/testkit/src/plane/http/test-app.ts';

test('a deleted agent is gone; deleting it again is a 404', async () => {
  const { call, agents } = testApp();
  const row = agentRow();
  agents.rows = [row];
  const answer = await call('DELETE', `/v1/agents/${row.id}`);
  assert.deepEqual([answer.status, answer.body], [200, { object: 'agent.deleted', id: row.id, deleted: true }]);
  for (const method of ['GET', 'DELETE'] as const) {
    const again = await call(method, `/v1/agents/${row.id}`);
    assert.deepEqual([again.status, again.body.error.code], [404, 'agent_not_found']);
  }
});

test('an empty body with a media type, as some clients send it, is no body', async () => {
  const { call, agents } = testApp();
  const row = agentRow();
  agents.rows = [row];
  const headers = { 'content-type': 'application/json' };
  assert.equal((await call('DELETE', `/v1/agents/${row.id}`, { body: '', headers })).status, 200);
});

test('wait=false does not wait until nothing is left', async () => {
  const { call, agents } = testApp();
  const row = agentRow();
  agents.rows = [row];
  const waits: boolean[] = [];
  agents.delete = async (_account: string, _id: string, signal?: AbortSignal) => void waits.push(signal!.aborted);
  const body = { object: 'agent.deleted', id: row.id, deleted: true };
  const at = `/v1/agents/${row.id}`;
  for (const [url, headers, status] of [
    [`${at}?wait=false`, {}, 202],
    [at, { prefer: 'respond-async' }, 202],
    [`${at}?wait=true`, { prefer: 'respond-async' }, 200],
  ] as const) {
    const answer = await call('DELETE', url, { headers });
    assert.deepEqual([answer.status, answer.body], [status, body]);
  }
  assert.deepEqual(waits, [true, true, false]);
});
