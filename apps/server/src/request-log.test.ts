import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openApp } from '../../../packages/testkit/src/plane/http/open-app.ts';
import { RequestScope, withRequestFields } from './request-log.ts';

const lines: Record<string, unknown>[] = [];
const write = (fields: object, message: string): void => void lines.push({ ...fields, message });
const log = withRequestFields({ debug: write, info: write, warn: write, error: write });
let later: Promise<void> | undefined;
const { call, agent, close } = await openApp({
  log,
  api: (usual) => ({
    ...usual,
    agents: {
      ...usual.agents,
      update: async () => {
        await sleep(1);
        log.warn({}, 'deep');
        later = sleep(100).then(() => log.info({}, 'later'));
        throw new Error('broken');
      },
    },
  }),
});
after(close);

test('a line that is written deep within a request carries its id and its agent; one that is written later does not', async () => {
  const [id, other] = [await agent(), await agent()];
  const replies = await Promise.all([
    call('PATCH', `/v1/agents/${id}`, { body: { name: 'x' } }),
    call('GET', `/v1/agents/${other}`),
  ]);
  await later;
  const [patched, read] = replies.map(({ headers }) => headers['x-request-id']);
  const of = (request: unknown) => lines.filter(({ request_id }) => request_id === request);
  assert.deepEqual(
    of(patched).map(({ agent_id, message }) => [agent_id, message]),
    [
      [id, 'deep'],
      [id, 'Something went wrong on our side. The X-Request-Id of this reply helps to find it.'],
      [id, 'request'],
    ],
  );
  assert.deepEqual(
    of(read).map(({ agent_id, message }) => [agent_id, message]),
    [[other, 'request']],
  );
  assert.deepEqual(
    lines.find(({ message }) => message === 'later'),
    { message: 'later' },
  );
});

test('an id that no agent can have, and a create before there is one, name no agent', async () => {
  lines.length = 0;
  await call('GET', '/v1/agents/%22not-an-id');
  assert.ok(!JSON.stringify(lines).includes('agent_id'));
  const id = await agent();
  assert.deepEqual([lines.at(-1)!['message'], lines.at(-1)!['agent_id']], ['request', id]);
});

test('fields that a line brings itself win', () => {
  lines.length = 0;
  new RequestScope('req_1').run(() => log.info({ request_id: 'req_2' }, ''));
  assert.deepEqual(lines, [{ request_id: 'req_2', message: '' }]);
});
