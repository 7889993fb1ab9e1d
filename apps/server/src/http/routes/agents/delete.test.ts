import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentRow, testApp } from '../../test-app.ts';

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
