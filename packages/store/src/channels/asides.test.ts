import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease } from '@lodge/ports';
import { execute } from '@lodge/testkit/postgres';
import { agentWithChannel, inbound, leasesOf } from '../testing/channel-fixture.ts';
import { firstAccount } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';

const { database, store, another } = await testStore();
const other = await another();
const accountId = await firstAccount(store.database);
const { channelTurns: turns, relay } = store;
const options = { holder: 'h', limit: 100, perAgent: 10, leaseMs: 60_000 };
const answered = { outcome: 'answered', reason: null, answer: { text: 'x', files: [] } } as const;
const stopped = 'The sender stopped it.';

async function open(): Promise<{ id: string; lease: Lease }> {
  const id = await agentWithChannel(store, accountId);
  const [lease] = await leasesOf(store, [id]);
  return { id, lease: lease! };
}

const write = (lease: Lease, ...texts: readonly string[]) =>
  relay.receive(
    lease,
    texts.map((text) => inbound({ text })),
  );
const asidesOf = async (agentId: string) => (await turns.asides(100)).filter((each) => each.agentId === agentId);
const messagesOf = async (agentId: string) =>
  (await store.channels.messages({ accountId, agentId, limit: 100 })).toReversed();
const queued = async (agentId: string) =>
  (
    await execute<{ text: string }>(
      database.connectionString,
      `select p.text from channel_parts p where p.agent_id = '${agentId}' order by p.seq`,
    )
  ).map(({ text }) => text);

test('a command is answered once beside a turn under way, which is answered too, each as a reply to its own', async () => {
  const { id, lease } = await open();
  await write(lease, 'work');
  const [turn] = await turns.claim(options);
  await write(lease, 'more', '/status', '/new', '/help', '/stop');
  const asides = await asidesOf(id);
  assert.deepEqual(
    asides.map(({ command }) => command),
    ['status', 'help'],
  );
  for (const { id: message, command } of asides) {
    const tries = [store, other, store].map((each) => each.channelTurns.answerAside(message, { text: command }));
    assert.equal((await Promise.all(tries)).filter(Boolean).length, 1);
  }
  assert.deepEqual(await turns.renew([turn!], 60_000), new Set([turn!.id]));
  assert.equal(await turns.answer(turn!, { ...answered, answer: { text: 'done', files: [] } }), true);
  assert.deepEqual(await queued(id), ['status', 'help', 'done']);
  // Among waiting messages, `/new` comes in its order.
  for (const text of ['more', '/new', '/stop']) {
    const [next] = await turns.claim(options);
    assert.deepEqual(
      next!.messages.map((each) => each.text),
      [text],
    );
    await turns.answer(next!, answered);
  }
});

test('a claim has a command, or it is answered beside the turns', async () => {
  const { id, lease } = await open();
  await write(lease, '/help');
  const [aside] = await asidesOf(id);
  const [claim] = await turns.claim(options);
  assert.equal(await turns.answerAside(aside!.id, { text: 'beside' }), false);
  assert.deepEqual(await asidesOf(id), []);
  assert.equal(await turns.answer(claim!, answered), true);
  await write(lease, '/help');
  const [next] = await asidesOf(id);
  assert.equal(await turns.answerAside(next!.id, { text: 'beside' }), true);
  assert.deepEqual(await turns.claim(options), []);
  assert.deepEqual(await queued(id), ['x', 'beside']);
});

test('/stop waits until the turn under way is cut; then what waits before it ends, and what comes after is a turn', async () => {
  const { id, lease } = await open();
  await write(lease, 'a');
  const [turn] = await turns.claim(options);
  await write(lease, 'b', '/stop', 'c');
  assert.deepEqual(await asidesOf(id), []);
  const stop = (await messagesOf(id)).find(({ text }) => text === '/stop')!;
  assert.equal(await turns.answerAside(stop.id, { text: 'Stopped.', endsEarlier: stopped }), false);
  assert.equal(await turns.answer(turn!, { outcome: 'answered', reason: stopped, answer: null }), true);
  assert.equal(await turns.answerAside(stop.id, { text: 'Stopped.', endsEarlier: stopped }), true);
  assert.deepEqual(
    (await messagesOf(id)).map(({ text, state, reason }) => [text, state, reason]),
    [
      ['a', 'answered', stopped],
      ['b', 'answered', stopped],
      ['/stop', 'received', null],
      ['c', 'received', null],
    ],
  );
  const events = await store.events.page({
    accountId,
    types: ['message.answered'],
    agentId: id,
    direction: 'asc',
    limit: 9,
  });
  assert.equal(events.length, 2);
  const [last] = await turns.claim(options);
  assert.deepEqual(
    last!.messages.map(({ text }) => text),
    ['c'],
  );
  await turns.answer(last!, answered);
});

test('/stop after the end of a claim: what its holder writes late is refused', async () => {
  const { id, lease } = await open();
  await write(lease, 'a');
  const [dead] = await turns.claim(options);
  await write(lease, '/stop');
  await execute(
    database.connectionString,
    `update channel_conversations set claim_until = clock_timestamp() - interval '1 ms' where agent_id = '${id}'`,
  );
  const [stop] = await asidesOf(id);
  assert.equal(await turns.answerAside(stop!.id, { text: 'Stopped.', endsEarlier: stopped }), true);
  assert.deepEqual(await turns.renew([dead!], 60_000), new Set());
  assert.equal(await turns.answer(dead!, answered), false);
  assert.deepEqual(await queued(id), ['Stopped.']);
  assert.deepEqual(await turns.claim(options), []);
});
