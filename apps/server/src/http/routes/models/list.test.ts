import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { agentRow, testApp } from '../../../../../../packages/testkit/src/plane/http/test-app.ts';

test('an OpenAI client lists all agents as models, beyond one page of ours', async () => {
  const { app, agents } = testApp();
  agents.rows = Array.from({ length: 130 }, () => agentRow());
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  try {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'all', maxRetries: 0 });
    const models = [];
    for await (const model of client.models.list()) models.push(model);
    assert.deepEqual(
      models.map(({ id }) => id),
      agents.rows.map(({ id }) => id),
    );
    assert.deepEqual(models[0], {
      id: agents.rows[0]!.id,
      object: 'model',
      created: 1769860800,
      owned_by: 'lodge',
      name: 'Support bot',
    });
  } finally {
    await app.close();
  }
});

test('one agent lists itself', async () => {
  const { call, agents } = testApp();
  const row = agentRow();
  agents.rows = [row, agentRow()];
  const { body } = await call('GET', `/v1/agents/${row.id}/models`);
  assert.deepEqual(
    body.data.map(({ id }: { id: string }) => id),
    [row.id],
  );
  assert.equal((await call('GET', `/v1/agents/${'a'.repeat(12)}/models`)).status, 404);
});
