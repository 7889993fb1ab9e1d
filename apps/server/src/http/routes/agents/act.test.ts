/** Verbs and the delete as requests: their waits and their replies. `tests/e2e/contract/lifecycle.test.ts` has each verb in each status. */
import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openApp } from '../../../../../../packages/testkit/src/plane/http/open-app.ts';

const waits: AbortSignal[] = [];
const deletesWithoutWait: boolean[] = [];
const { call, agent, running, app, host, key, baseUrl, close } = await openApp({
  machines: true,
  settings: { LODGE_LIFECYCLE_WAIT_MS: '300' },
  api: (usual) => ({
    ...usual,
    agents: {
      ...usual.agents,
      awaitVerb: (account, id, verb, timeoutMs, signal) => {
        waits.push(signal);
        return usual.agents.awaitVerb(account, id, verb, timeoutMs, signal);
      },
      delete: (account, id, signal, note) => {
        deletesWithoutWait.push(signal.aborted);
        return usual.agents.delete(account, id, signal, note);
      },
    },
  }),
});
let go = (): void => undefined;
afterEach(() => go());
after(close);

/** No machine gets any further until `go` is called. */
function hold(): void {
  const gate = Promise.withResolvers<void>();
  host.behaviour = () => gate.promise;
  go = () => {
    host.behaviour = () => Promise.resolve();
    gate.resolve();
  };
}

const act = (id: string, verb: string, options: { query?: string; body?: unknown; headers?: {} } = {}) =>
  call('POST', `/v1/agents/${id}/${verb}${options.query ?? ''}`, options);

test('200: the record with its ETag, once the agent is there; nothing to do is a 200 at once, asked to wait or not', async () => {
  const id = await running();
  const paused = await act(id, 'pause');
  assert.deepEqual([paused.status, paused.body.status, paused.body.transition], [200, 'paused', null]);
  assert.match(String(paused.headers['etag']), /^"/);
  waits.length = 0;
  for (const query of ['', '?wait=false']) {
    const again = await act(id, 'pause', { query });
    assert.deepEqual([again.status, again.body.status], [200, 'paused']);
  }
  assert.equal(waits.length, 0);
});

test('202: the record as it is, with wait=false, Prefer: respond-async, or when the wait is over; another change is a 409', async () => {
  const id = await running();
  hold();
  for (const options of [{ query: '?wait=false' }, { headers: { prefer: 'respond-async' } }, {}]) {
    const answer = await act(id, 'stop', options);
    assert.equal(answer.status, 202, answer.text);
    assert.deepEqual([answer.body.status, answer.body.transition.kind], ['running', 'stop']);
    assert.equal(answer.headers['preference-applied'] !== undefined, options.headers !== undefined);
  }
  const refused = await act(id, 'pause');
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'agent_transitioning']);
  assert.ok(Number(refused.headers['retry-after']) > 0);
});

test('the same again joins the verb that is under way', async () => {
  const id = await running();
  hold();
  assert.equal((await act(id, 'stop', { query: '?wait=false' })).status, 202);
  const joined = act(id, 'stop');
  go();
  const { status, body } = await joined;
  assert.deepEqual([status, body.status], [200, 'stopped']);
});

test('500: a verb that did not come to its goal says why, in public words', async () => {
  const id = await running();
  host.behaviour = (step) => (step === 'save' ? Promise.reject(new Error('ENOSPC /var/secret')) : Promise.resolve());
  go = () => (host.behaviour = () => Promise.resolve());
  const answer = await act(id, 'stop');
  assert.equal(answer.status, 500, answer.text);
  const { type, code, message } = answer.body.error;
  assert.deepEqual([type, code], ['server_error', 'internal_error']);
  assert.match(message, /It goes on running/);
  assert.doesNotMatch(message, /ENOSPC|secret/);
});

test('400: a body with anything in it, or a query of something else; 404: no such agent', async () => {
  const id = await running();
  for (const [options, message] of [
    [{ body: { force: true } }, /^force is not a known field/],
    [{ body: [] }, /^The body must be an object/],
    [{ query: '?wait=no' }, /^wait must be one of true, false/],
    [{ query: '?force=1' }, /^force is not a known query parameter/],
  ] as const) {
    const answer = await act(id, 'stop', options);
    assert.deepEqual([answer.status, answer.body.error.code], [400, 'invalid_request']);
    assert.match(answer.body.error.message, message);
  }
  assert.equal((await act(id, 'pause', { body: {} })).status, 200);
  for (const nobody of ['a'.repeat(12), 'none']) assert.equal((await act(nobody, 'stop')).status, 404);
});

test('a delete waits until nothing is left, unless it is asked not to', async () => {
  for (const [query, headers, status] of [
    ['?wait=false', {}, 202],
    ['', { prefer: 'respond-async' }, 202],
    ['?wait=true', { prefer: 'respond-async' }, 200],
  ] as const) {
    const id = await running();
    const answer = await call('DELETE', `/v1/agents/${id}${query}`, { headers });
    assert.deepEqual([answer.status, answer.body], [status, { object: 'agent.deleted', id, deleted: true }]);
  }
  assert.deepEqual(deletesWithoutWait, [true, true, false]);
  assert.equal((await call('DELETE', `/v1/agents/${'a'.repeat(12)}`)).body.error.code, 'agent_not_found');
});

test('an empty body with a media type, as some clients send it, is no body', async () => {
  const headers = { 'content-type': 'application/json' };
  assert.equal((await call('DELETE', `/v1/agents/${await agent()}`, { body: '', headers })).status, 200);
});

test('a wait ends when the client goes away, and when the service closes', async () => {
  const id = await running();
  const headers = { 'x-api-key': await key('all') };
  const stop = (signal?: AbortSignal) =>
    fetch(`${baseUrl}/agents/${id}/stop`, { method: 'POST', headers, ...(signal && { signal }) });
  hold();
  waits.length = 0;
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
