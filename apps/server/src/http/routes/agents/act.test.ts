import { Refusal, verbs } from '@lodge/domain';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { agentRow, testApp } from '../../../../../../packages/testkit/src/plane/http/test-app.ts';
import type { TestApp } from '../../../../../../packages/testkit/src/plane/http/test-app.ts';

const goals = {
  start: 'running',
  resume: 'running',
  restart: 'running',
  pause: 'paused',
  stop: 'stopped',
  upgrade: 'running',
} as const;
/** A status from which each verb has something to do. */
const origins = {
  start: 'stopped',
  resume: 'paused',
  restart: 'running',
  pause: 'running',
  stop: 'paused',
  upgrade: 'running',
} as const;

function withAgent(lodge: TestApp, change: Parameters<typeof agentRow>[0] = {}) {
  const row = agentRow({ runtimeVersion: 'older', ...change });
  lodge.agents.rows = [row];
  return (verb: string, options: { query?: string; body?: unknown; headers?: Record<string, string> } = {}) =>
    lodge.call('POST', `/v1/agents/${row.id}/${verb}${options.query ?? ''}`, options);
}

for (const verb of verbs) {
  describe(verb, () => {
    test('200: the record, once the agent is there', async () => {
      const act = withAgent(testApp(), { status: origins[verb] });
      const answer = await act(verb);
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual([answer.body.status, answer.body.transition], [goals[verb], null]);
      assert.match(String(answer.headers['etag']), /^"/);
    });

    test('202: the record as it is, with wait=false, Prefer: respond-async, or when the wait is over', async () => {
      const lodge = testApp();
      lodge.agents.finish = (row) => row;
      for (const options of [{ query: '?wait=false' }, { headers: { prefer: 'respond-async' } }, {}]) {
        const act = withAgent(lodge, { status: origins[verb] });
        const answer = await act(verb, options);
        assert.equal(answer.status, 202, answer.text);
        assert.deepEqual([answer.body.status, answer.body.transition.kind], [origins[verb], verb]);
        assert.equal(answer.headers['preference-applied'] !== undefined, options.headers !== undefined);
      }
    });

    test('the same again joins what is under way; another change is a 409 with Retry-After', async () => {
      const operation = { kind: verb, cause: 'request', startedAt: new Date() } as const;
      const act = withAgent(testApp(), { status: origins[verb], operation });
      const other = verb === 'pause' ? 'stop' : 'pause';
      const refused = await act(other);
      assert.deepEqual([refused.status, refused.body.error.code], [409, 'agent_transitioning']);
      assert.ok(Number(refused.headers['retry-after']) > 0);
      assert.equal((await act(verb)).status, 200);
    });

    test('500: what did not come to its goal says why, in public words', async () => {
      const lodge = testApp();
      lodge.agents.finish = () => {
        throw new Refusal('internal_error', 'The snapshot could not be written; the agent runs on.');
      };
      const answer = await withAgent(lodge, { status: origins[verb] })(verb);
      assert.equal(answer.status, 500);
      assert.deepEqual(answer.body.error, {
        type: 'server_error',
        code: 'internal_error',
        message: 'The snapshot could not be written; the agent runs on.',
      });
    });

    test('400: a body with anything in it, or a query of something else; 404: no such agent', async () => {
      const act = withAgent(testApp(), { status: origins[verb] });
      const wrong = [
        [{ body: { force: true } }, /^force is not a known field/],
        [{ body: [] }, /^The body must be an object/],
        [{ query: '?wait=no' }, /^wait must be one of true, false/],
        [{ query: '?force=1' }, /^force is not a known query parameter/],
      ] as const;
      for (const [options, message] of wrong) {
        const answer = await act(verb, options);
        assert.deepEqual([answer.status, answer.body.error.code], [400, 'invalid_request']);
        assert.match(answer.body.error.message, message);
      }
      assert.equal((await act(verb, { body: {} })).status, 200);
      const { call } = testApp();
      for (const id of ['a'.repeat(12), 'none']) {
        assert.equal((await call('POST', `/v1/agents/${id}/${verb}`)).status, 404);
      }
    });
  });
}

test('nothing to do is a 200 at once, asked to wait or not', async () => {
  const lodge = testApp();
  lodge.agents.finish = () => assert.fail('waited');
  for (const [status, verb] of [
    ['running', 'start'],
    ['running', 'resume'],
    ['paused', 'pause'],
    ['stopped', 'stop'],
  ] as const) {
    for (const query of ['', '?wait=false']) {
      const answer = await withAgent(lodge, { status })(verb, { query });
      assert.deepEqual([answer.status, answer.body.status], [200, status]);
    }
  }
});

test('409: the refusals of the lifecycle table', async () => {
  for (const [status, verb, code] of [
    ['stopped', 'pause', 'agent_not_running'],
    ['stopped', 'restart', 'agent_not_running'],
    ['error', 'resume', 'agent_not_resumable'],
    ['provisioning', 'start', 'agent_transitioning'],
  ] as const) {
    const { body, status: answered } = await withAgent(testApp(), { status })(verb);
    assert.deepEqual([answered, body.error.type, body.error.code], [409, 'invalid_request_error', code]);
  }
});

test('a wait ends when the service closes, and when the client goes away', async () => {
  const { app, agents } = testApp();
  const row = agentRow();
  agents.rows = [row];
  const waits: AbortSignal[] = [];
  agents.finish = (present, _verb, signal) => {
    waits.push(signal);
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(present)));
  };
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const stop = (signal?: AbortSignal) =>
    fetch(`${url}/v1/agents/${row.id}/stop`, {
      method: 'POST',
      headers: { 'x-api-key': 'all' },
      ...(signal && { signal }),
    });
  const client = new AbortController();
  const gone = stop(client.signal);
  while (waits.length < 1) await sleep(5);
  client.abort();
  await assert.rejects(gone);
  while (!waits[0]!.aborted) await sleep(5);
  const waiting = stop();
  while (waits.length < 2) await sleep(5);
  const closed = app.close();
  assert.equal((await waiting).status, 202);
  await closed;
});
