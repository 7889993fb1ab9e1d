import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { maxJoined, maxJoinedBytes } from '@lodge/ports';
import type { Lease, WaitingConversation } from '@lodge/ports';
import { execute } from '@lodge/testkit/postgres';
import { agentWithChannel, inbound, leasesOf } from '../testing/channel-fixture.ts';
import { firstAccount } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';

const { database, store, another } = await testStore();
const other = await another();
const accountId = await firstAccount(store.database);
const { channelTurns: turns, relay } = store;
const options = { holder: 'h', limit: 100, perAgent: 10, leaseMs: 60_000 };
const answered = (text: string) => ({ outcome: 'answered', reason: null, answer: { text, files: [] } }) as const;

async function open(): Promise<{ id: string; lease: Lease }> {
  const id = await agentWithChannel(store, accountId);
  const [lease] = await leasesOf(store, [id]);
  return { id, lease: lease! };
}

const textsOf = ({ messages }: WaitingConversation) => messages.map(({ text }) => text);
const messagesOf = async (agentId: string) =>
  (await store.channels.messages({ accountId, agentId, limit: 100 })).toReversed();

const expireClaims = () =>
  execute(
    database.connectionString,
    `update channel_conversations set claim_until = clock_timestamp() - interval '1 ms' where claim_until is not null`,
  );

/** Sends everything that waits, as a relay does. */
async function sendAll(lease: Lease): Promise<readonly string[]> {
  const texts: string[] = [];
  for (;;) {
    const [part] = await relay.partsToSend([lease], 1);
    if (part === undefined) return texts;
    if (part.content.kind === 'markdown') {
      await relay.split(lease, part.id, [{ text: part.content.markdown, format: null }]);
      continue;
    }
    assert.equal(await relay.sending(lease, part.id), true);
    texts.push(part.content.kind === 'file' ? part.content.name : (part.content as { text: string }).text);
    await relay.sent(lease, part.id, `p-${part.id}`);
  }
}

test('of claimers that ask at once one has each conversation, with all that waits in it, in order', async () => {
  const { id, lease } = await open();
  const said = Array.from({ length: 30 }, (_, n) => inbound({ conversation: { id: `c${n % 3}` }, text: String(n) }));
  await relay.receive(lease, said);
  const claims = (
    await Promise.all(Array.from({ length: 6 }, (_, n) => [store, other][n % 2]!.channelTurns.claim(options)))
  ).flat();
  assert.equal(claims.length, 3);
  for (const claim of claims) {
    assert.equal(claim.agentId, id);
    const numbers = textsOf(claim).map(Number);
    assert.deepEqual(
      numbers,
      Array.from({ length: 10 }, (_, n) => numbers[0]! + 3 * n),
    );
    assert.equal(await turns.answer(claim, answered('ok')), true);
  }
  assert.deepEqual(await turns.claim(options), []);
});

test('a claimer that died is followed by another; what it writes late is refused, and its messages are answered once', async () => {
  const { id, lease } = await open();
  await relay.receive(lease, [inbound({ text: 'a' })]);
  const [dead] = await turns.claim(options);
  await relay.receive(lease, [inbound({ text: 'b' })]);
  assert.deepEqual(await turns.claim(options), [], 'one turn at a time');
  await expireClaims();
  const [next] = await turns.claim(options);
  assert.deepEqual([textsOf(next!), next!.attempts, next!.claim], [['a', 'b'], 1, dead!.claim + 1]);
  assert.deepEqual(await turns.renew([dead!, next!], 60_000), new Set([next!.id]));
  assert.equal(await turns.answer(dead!, answered('late')), false);
  assert.equal(await turns.postpone(dead!, new Date(), 'late'), false);
  assert.equal(await turns.answer(next!, answered('once')), true);
  assert.equal(await turns.answer(next!, answered('twice')), false);
  assert.deepEqual(await sendAll(lease), ['once']);
  assert.deepEqual(
    (await messagesOf(id)).map(({ state, answer }) => [state, answer]),
    [
      ['answered', 'once'],
      ['answered', 'once'],
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
});

test('a claim that is renewed is not taken, one that is postponed waits until its time', async () => {
  const { lease } = await open();
  await relay.receive(lease, [inbound()]);
  const [claim] = await turns.claim(options);
  await expireClaims();
  assert.equal((await turns.renew([claim!], 60_000)).size, 1);
  assert.deepEqual(await turns.claim(options), []);
  assert.equal(await turns.postpone(claim!, new Date(Date.now() + 60_000), 'The agent is being restarted.'), true);
  assert.deepEqual(await turns.claim(options), []);
  await execute(database.connectionString, `update channel_conversations set not_before = now()`);
  const [again] = await turns.claim(options);
  assert.equal(again!.attempts, 1);
  assert.equal(await turns.postpone(again!, new Date(), 'No room.', true), true);
  const [third] = await turns.claim(options);
  assert.equal(third!.attempts, 1, 'an attempt that finds no room does not count');
  await turns.answer(third!, answered('x'));
});

test('at most so many of one agent at once, and no account before all others', async () => {
  const [one, two] = [await open(), await open()];
  await execute(
    database.connectionString,
    `update channel_conversations set account_id = 'x' where false;
     insert into accounts (id, name) values ('second', 's') on conflict do nothing`,
  );
  const many = (n: number) => Array.from({ length: n }, (_, i) => inbound({ conversation: { id: `c${i}` } }));
  await relay.receive(one.lease, many(5));
  await relay.receive(two.lease, many(5));
  // It belongs to another account, and comes last.
  await execute(
    database.connectionString,
    `update channel_conversations set account_id = 'second' where agent_id = '${two.id}'`,
  );
  const first = await turns.claim({ ...options, limit: 2 });
  assert.deepEqual(first.map(({ agentId }) => agentId).toSorted(), [one.id, two.id].toSorted());
  const second = await turns.claim({ ...options, perAgent: 3 });
  const all = [...first, ...second].map(({ agentId }) => agentId);
  assert.deepEqual(
    [one, two].map(({ id }) => all.filter((each) => each === id).length),
    [3, 3],
  );
  assert.deepEqual(await turns.claim({ ...options, perAgent: 3 }), []);
  for (const claim of [...first, ...second]) await turns.answer(claim, answered('x'));
  for (const claim of await turns.claim(options)) await turns.answer(claim, answered('x'));
});

test('a message waits for its files, and what follows it waits behind it', async () => {
  const { lease } = await open();
  const file = { ref: 'r', name: 'a.png', mediaType: 'image/png', bytes: 3, kind: 'image' } as const;
  await relay.receive(lease, [
    inbound({ text: 'a' }),
    inbound({ text: 'b', files: [file, file] }),
    inbound({ text: 'c' }),
  ]);
  const [first] = await turns.claim(options);
  assert.deepEqual(textsOf(first!), ['a']);
  await turns.answer(first!, answered('x'));
  assert.deepEqual(await turns.claim(options), []);
  const [one, two] = await relay.filesToFetch([lease], 9);
  assert.deepEqual([one!.ref, one!.attempts], ['r', 0]);
  assert.deepEqual(await relay.filesToFetch([lease], 9), [], 'a file is given out once for a while');
  await relay.fetched(lease, one!.id, { key: 'k', bytes: 3 });
  assert.deepEqual(await turns.claim(options), []);
  await relay.fetched(lease, two!.id, { reason: 'it is too large' });
  const [second] = await turns.claim(options);
  assert.deepEqual(textsOf(second!), ['b', 'c']);
  assert.deepEqual(second!.messages[0]!.files.map(({ key, reason }) => key ?? String(reason)).toSorted(), [
    'it is too large',
    'k',
  ]);
  await turns.answer(second!, answered('x'));
});

test('a command is claimed alone; a stop that came since the turn began is told', async () => {
  const { lease } = await open();
  await relay.receive(
    lease,
    ['a', 'b', '/new', 'c'].map((text) => inbound({ text })),
  );
  const runs: (readonly string[])[] = [];
  let sessions = '';
  for (let n = 0; n < 3; n += 1) {
    const [claim] = await turns.claim(options);
    runs.push(textsOf(claim!));
    sessions += claim!.session;
    assert.equal((await turns.stopsWanted([claim!])).size, 0);
    if (n === 0) {
      await relay.receive(lease, [inbound({ text: '/stop' })]);
      assert.deepEqual(await turns.stopsWanted([claim!]), new Set([claim!.id]));
      await execute(database.connectionString, `delete from channel_messages where command = 'stop'`);
    }
    await turns.answer(claim!, { ...answered('x'), newSession: n === 1 });
  }
  assert.deepEqual([runs, sessions], [[['a', 'b'], ['/new'], ['c']], '112']);
});

test('more messages than are joined make a second turn', async () => {
  const { lease } = await open();
  await relay.receive(
    lease,
    Array.from({ length: maxJoined + 5 }, () => inbound()),
  );
  for (const expected of [maxJoined, 5]) {
    const [claim] = await turns.claim(options);
    assert.equal(claim!.messages.length, expected);
    await turns.answer(claim!, answered('x'));
  }
});

test('long messages are joined up to a bound in bytes, in their order; one that is longer is a turn of its own', async () => {
  const { lease } = await open();
  const long = 'ä'.repeat(maxJoinedBytes / 4);
  const longest = '中'.repeat(maxJoinedBytes / 2);
  const said = [`a${long}`, 'b', `c${long}`, `d${longest}`, 'e', `f${long.slice(1)}`, 'g', `h${long}`];
  await relay.receive(
    lease,
    said.map((text) => inbound({ text })),
  );
  const turnsMade: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    const [claim] = await turns.claim(options);
    if (claim === undefined) break;
    turnsMade.push(
      textsOf(claim)
        .map((text) => text[0])
        .join(''),
    );
    await turns.answer(claim, answered('x'));
  }
  assert.deepEqual(turnsMade, ['ab', 'c', 'd', 'efg', 'h']);
});

test('a command does not wait for texts that are put off, and leaves them put off', async () => {
  const { id, lease } = await open();
  await relay.receive(
    lease,
    Array.from({ length: maxJoined + 1 }, (_, n) => inbound({ text: `t${n}` })),
  );
  const [first] = await turns.claim(options);
  await turns.postpone(first!, new Date(Date.now() + 3_600_000), 'Too busy.');
  assert.deepEqual(await turns.claim(options), []);
  await relay.receive(lease, [inbound({ text: 'more' }), inbound({ text: '/help' }), inbound({ text: '/new' })]);
  for (const command of ['/help', '/new']) {
    const [claim] = await turns.claim(options);
    assert.deepEqual([textsOf(claim!), claim!.attempts], [[command], 0]);
    await turns.answer(claim!, { ...answered('done'), newSession: command === '/new' });
  }
  assert.deepEqual(await sendAll(lease), ['done', 'done']);
  assert.deepEqual(await turns.claim(options), []);
  // A command that could not be answered waits with the others.
  await relay.receive(lease, [inbound({ text: '/status' })]);
  const [status] = await turns.claim(options);
  await turns.postpone(status!, new Date(Date.now() + 3_600_000), 'Not now.');
  assert.deepEqual(await turns.claim(options), []);
  await execute(
    database.connectionString,
    `update channel_conversations set not_before = null where agent_id = '${id}'`,
  );
  const runs: (readonly string[])[] = [];
  for (let n = 0; n < 3; n += 1) {
    const [claim] = await turns.claim(options);
    runs.push(textsOf(claim!));
    await turns.answer(claim!, answered('x'));
  }
  const texts = Array.from({ length: maxJoined }, (_, n) => `t${n}`);
  assert.deepEqual(runs, [texts, [`t${maxJoined}`, 'more'], ['/status']]);
});

test('a command that ends what waits before it ends that alone, and what comes after is not put off', async () => {
  const { id, lease } = await open();
  await relay.receive(lease, [inbound({ text: 'a' })]);
  const [first] = await turns.claim(options);
  await turns.postpone(first!, new Date(Date.now() + 3_600_000), 'Too busy.');
  await relay.receive(lease, [inbound({ text: 'b' }), inbound({ text: '/stop' }), inbound({ text: 'c' })]);
  const [stop] = await turns.claim(options);
  assert.deepEqual(textsOf(stop!), ['/stop']);
  await turns.answer(stop!, { ...answered('Stopped.'), endsEarlier: 'The sender stopped it.' });
  assert.deepEqual(
    (await messagesOf(id)).map(({ text, state, reason }) => [text, state, reason]),
    [
      ['a', 'answered', 'The sender stopped it.'],
      ['b', 'answered', 'The sender stopped it.'],
      ['/stop', 'received', null],
      ['c', 'received', null],
    ],
  );
  const [last] = await turns.claim(options);
  assert.deepEqual(textsOf(last!), ['c']);
});

test('a turn that failed or was refused ends its messages, and its text is sent all the same; a retry is a new turn', async () => {
  const { id, lease } = await open();
  for (const outcome of ['failed', 'refused'] as const) {
    await relay.receive(lease, [inbound()]);
    const [claim] = await turns.claim(options);
    await turns.answer(claim!, { outcome, reason: 'It did not work.', answer: { text: 'Sorry.', files: [] } });
    assert.deepEqual(await sendAll(lease), ['Sorry.']);
  }
  const [failed, refused] = await messagesOf(id);
  assert.deepEqual([failed!.state, failed!.reason, refused!.state], ['failed', 'It did not work.', 'refused']);
  const notRetryable = { code: 'message_not_retryable' };
  await assert.rejects(store.channels.retry(accountId, id, refused!.id), notRetryable);
  await assert.rejects(store.channels.retry('other', id, failed!.id), { code: 'message_not_found' });
  assert.equal((await store.channels.retry(accountId, id, failed!.id)).state, 'received');
  await assert.rejects(store.channels.retry(accountId, id, failed!.id), notRetryable);
  const [claim] = await turns.claim(options);
  assert.equal(claim!.messages[0]!.id, failed!.id);
  await turns.answer(claim!, answered('done'));
  assert.deepEqual(await sendAll(lease), ['done']);
  assert.equal((await messagesOf(id))[0]!.state, 'answered');
});

test('who makes turns hears of messages, and a channel that is off has none', async () => {
  const { id, lease } = await open();
  const heard: number[] = [];
  const end = other.channelTurns.onWork(() => heard.push(1));
  await relay.receive(lease, [inbound()]);
  for (let n = 0; n < 500 && heard.length === 0; n += 1) await sleep(10);
  end();
  assert.ok(heard.length > 0);
  await execute(database.connectionString, `update channels set enabled = false where agent_id = '${id}'`);
  assert.deepEqual(await turns.claim(options), []);
  await execute(database.connectionString, `update channels set enabled = true where agent_id = '${id}'`);
  assert.equal((await turns.claim(options)).length, 1);
});
