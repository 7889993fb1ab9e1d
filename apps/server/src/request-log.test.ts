import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { agentRow, testApp } from '../../../packages/testkit/src/plane/http/test-app.ts';
import { RequestScope, withRequestFields } from './request-log.ts';

test('a line that is written deep within a request carries its id and its agent; one that is written later does not', async () => {
  const lines: Record<string, unknown>[] = [];
  const write = (fields: object, message: string): void => void lines.push({ ...fields, message });
  const log = withRequestFields({ debug: write, info: write, warn: write, error: write });
  const { app, call, agents } = testApp({ log });
  const row = agentRow();
  agents.rows = [row];
  let later: Promise<void> | undefined;
  agents.update = async () => {
    await sleep(1);
    log.warn({}, 'deep');
    later = sleep(100).then(() => log.info({}, 'later'));
    throw new Error('broken');
  };
  const other = agentRow();
  agents.rows.push(other);
  const replies = await Promise.all([
    call('PATCH', `/v1/agents/${row.id}`, { body: { name: 'x' } }),
    call('GET', `/v1/agents/${other.id}`),
  ]);
  await later;
  const [patched, read] = replies.map(({ headers }) => headers['x-request-id']);
  const of = (request: unknown) => lines.filter(({ request_id }) => request_id === request);
  assert.deepEqual(
    of(patched).map(({ agent_id, message }) => [agent_id, message]),
    [
      [row.id, 'deep'],
      [row.id, 'Something went wrong on our side. The X-Request-Id of this reply helps to find it.'],
      [row.id, 'request'],
    ],
  );
  assert.deepEqual(
    of(read).map(({ agent_id, message }) => [agent_id, message]),
    [[other.id, 'request']],
  );
  const last = lines.find(({ message }) => message === 'later');
  assert.deepEqual(last, { message: 'later' });
  await app.close();
});

test('an id that no agent can have, and a create before there is one, name no agent', async () => {
  const { call, logged, agents } = testApp();
  await call('GET', '/v1/agents/%22not-an-id');
  assert.ok(!logged.join().includes('agent_id'));
  await call('POST', '/v1/agents', { body: { name: 'x' } });
  assert.ok(logged.at(-1)!.includes(`"agent_id":"${agents.rows[0]!.id}"`));
});

test('fields that a line brings itself win', () => {
  const lines: object[] = [];
  const write = (fields: object): void => void lines.push(fields);
  const log = withRequestFields({ debug: write, info: write, warn: write, error: write });
  new RequestScope('req_1').run(() => log.info({ request_id: 'req_2' }, ''));
  assert.deepEqual(lines, [{ request_id: 'req_2' }]);
});
