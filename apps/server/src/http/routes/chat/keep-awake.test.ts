import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ChatWorld } from '../../../../../../packages/testkit/src/plane/http/chat-world.ts';
import {
  answerEvents,
  answerJson,
  chunk,
  done,
  errorOf,
  event,
  whole,
} from '../../../../../../packages/testkit/src/leaf/stub-gateway.ts';

const world = new ChatWorld();
const { gateway, row } = world;
const post: ChatWorld['post'] = (...args) => world.post(...args);
const chatBody = { messages: [{ role: 'user', content: 'Hello' }] };

const leases = () => [world.lodge.agents.uses.length, world.lodge.agents.released.length];
const released = async (count: number) => {
  while (world.lodge.agents.released.length < count) await sleep(5);
  await sleep(50);
  assert.deepEqual(leases(), [count, count], 'exactly once a turn');
};
/** A gateway that answers when the test says so. */
const slow = () => {
  const go = Promise.withResolvers<void>();
  gateway.answer = async (res) => {
    await go.promise;
    answerJson(200, whole)(res);
  };
  return go.resolve;
};

test('an agent is kept awake until the turn is over, streaming or not', async () => {
  const go = slow();
  const pending = post(chatBody);
  while (gateway.requests.length === 0) await sleep(5);
  assert.deepEqual(leases(), [1, 0]);
  go();
  await pending;
  await released(1);
  gateway.answer = answerEvents(event(chunk('one')), done);
  await (await post({ ...chatBody, stream: true })).text();
  await released(2);
});

test('an agent is kept awake until the client goes away', async () => {
  slow();
  const client = new AbortController();
  const pending = post(chatBody, { signal: client.signal });
  while (gateway.requests.length === 0) await sleep(5);
  client.abort();
  await assert.rejects(pending);
  await released(1);
});

test('an agent is kept awake until the client goes away while the agent wakes', async () => {
  const woken = Promise.withResolvers<void>();
  const use = world.lodge.agents.use.bind(world.lodge.agents);
  world.lodge.agents.use = async (account, id, options) => {
    const live = await use(account, id, options);
    await woken.promise;
    return live;
  };
  const client = new AbortController();
  const pending = post(chatBody, { signal: client.signal });
  while (world.lodge.agents.uses.length === 0) await sleep(5);
  client.abort();
  await assert.rejects(pending);
  while (!world.lodge.agents.uses[0]!.signal.aborted) await sleep(5);
  woken.resolve();
  await released(1);
  assert.equal(gateway.requests.length, 0, 'no turn is begun for nobody');
});

test('an agent is kept awake until an error ends the turn, in its reply or in the midst of a stream', async () => {
  gateway.answer = answerJson(500, { error: { message: 'no', type: 'api_error' } });
  assert.equal((await post(chatBody)).status, 500);
  await released(1);
  gateway.answer = answerEvents(event(chunk('half')));
  await (await post({ ...chatBody, stream: true })).text();
  await released(2);
  world.lodge.agents.endpoint = { baseUrl: 'http://127.0.0.1:1/v1', headers: {}, model: 'x', takesPictures: false };
  assert.equal((await post(chatBody)).status, 503);
  await released(3);
});

test('a paused agent is woken; a stopped one only when the request says so', async () => {
  gateway.answer = answerJson(200, whole);
  const ask = (status: 'paused' | 'stopped', path: string) => {
    world.lodge.agents.rows = [{ ...row, status }];
    return post({ ...chatBody, model: row.id }, { path });
  };
  const byId = `/agents/${row.id}/chat/completions`;
  assert.equal((await ask('paused', byId)).status, 200);
  assert.equal((await ask('stopped', `${byId}?wake=false`)).status, 409);
  for (const path of [byId, '/chat/completions']) {
    assert.equal((await ask('stopped', path)).status, 409);
    assert.equal((await ask('stopped', `${path}?wake=true`)).status, 200);
  }
  const wrong = await errorOf(await post(chatBody, { path: `${byId}?wake=1` }));
  assert.deepEqual([wrong.status, wrong.code], [400, 'invalid_request']);
  assert.match(wrong.message, /^wake must be one of true, false/);
});
