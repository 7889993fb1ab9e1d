/**
 * kill -9 of what makes turns of hooks' messages, whose answers go into conversations: at any moment, and between an answer and its
 * delivery. The guarantee: each message comes to one end, told once; an answer is in its conversation once where the message is `answered`,
 * and nowhere else; an agent is told a message no more often than it was begun, and a further time with the word that it may have acted.
 */
import assert from 'node:assert/strict';
import { openStore } from '@lodge/store';
import type { Store } from '@lodge/store';
import type { HookRow } from '@lodge/store/hooks';
import { formOf } from '@lodge/testkit/forms';
import { Client } from 'pg';
import { makeHook, sendTo } from '../../packages/store/src/testing/hook-fixture.ts';
import { until } from '../../packages/testkit/src/plane/plane.ts';
import { RelayHand } from '../../packages/testkit/src/plane/relay-hand.ts';
import { ClaimsWorld } from './storm/claims-world.ts';
import type { EndedWork } from './storm/claims-world.ts';
import { describeStorm } from './storm/storm.ts';

const agents = 20;
const { messages, kills, answerMs } = formOf({
  short: { messages: 120, kills: 5, answerMs: 150 },
  long: { messages: 2_000, kills: 10, answerMs: 400 },
});
const silent = { debug() {}, info() {}, warn() {}, error() {} };

let world: ClaimsWorld;
let store: Store;
let hooks: readonly HookRow[];
/** Answers that a kill cut off from their delivery. */
let cutShort: number;

describeStorm({
  name: `${messages} messages of ${agents} agents, ${kills} kills`,
  kills,
  pauseMs: formOf({ short: [250, 750], long: [1_250, 3_750] }),
  withinMs: formOf({ short: 3, long: 10 }) * 60_000,
  async open() {
    const subjectOf = (_: string, prompt: string): string => prompt.slice(prompt.lastIndexOf('\n') + 1);
    world = await ClaimsWorld.open({ of: 'hooks', answerMs, subjectOf });
    store = await openStore({ ...world.database, log: silent });
    return { begin, kill: () => world.workers.replace(), open: whatIsOpen, count, close };
  },
});

async function close(): Promise<void> {
  await store.close();
  await world.close();
}

async function begin(): Promise<void> {
  hooks = await makeHooks();
  await send(0, agents);
  await world.workers.start();
  cutShort = await killBetweenAnswerAndDelivery();
  assert.deepEqual(await world.query(`select from channel_answers`), []);
  assert.deepEqual(await world.query(`select from hook_messages where status is not null`), []);
  await send(agents, messages);
  await world.workers.start();
}

/** The answers of each go into a conversation of its agent. */
async function makeHooks(): Promise<readonly HookRow[]> {
  const made: HookRow[] = [];
  for (const agentId of await world.makeAgents(agents)) {
    const relay = await RelayHand.of(store, 'a', agentId);
    await relay.write('hello', { conversation: agentId });
    const deliver = { deliverTo: 'channel', deliverChannel: 'telegram', deliverConversation: agentId } as const;
    made.push(await makeHook(store, { accountId: 'a', agentId }, deliver));
  }
  return made;
}

async function send(from: number, to: number): Promise<void> {
  for (let n = from; n < to; n += 1) {
    await sendTo(store, hooks[n % hooks.length]!, { deliveryId: `d${n}`, text: `{"n":${n}}` });
  }
}

/** Nobody can queue an answer meanwhile: a process with an answer waits for the row of its channel. */
async function killBetweenAnswerAndDelivery(): Promise<number> {
  const holder = new Client({ connectionString: world.database.connectionString });
  await holder.connect();
  await holder.query('begin');
  await holder.query('select from channels for update');
  let waiting = 0;
  await until('answers wait to be delivered', async () => {
    const rows = await world.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%channel_conversations%'`,
    );
    waiting = rows.length;
    return waiting > 1;
  });
  await world.workers.kill();
  await holder.query('rollback');
  await holder.end();
  return waiting;
}

interface MessageRow extends EndedWork {
  readonly text: string;
}

async function whatIsOpen(): Promise<string | null> {
  const [row] = await world.query<{ open: number }>(
    'select count(*)::int as open from hook_messages where status is null',
  );
  return row!.open === 0 ? null : `${row!.open} are not over`;
}

async function count(): Promise<readonly string[]> {
  const rows = await world.query<MessageRow>(
    `select status, attempts, reason, '{"n":' || substr(delivery_id, 2) || '}' as text from hook_messages`,
  );
  assert.equal(rows.length, messages);
  const answers = new Map<string, number>();
  for (const { text } of await world.query<{ text: string }>('select text from channel_answers')) {
    answers.set(text, (answers.get(text) ?? 0) + 1);
  }
  for (const { text, ...row } of rows) {
    world.checkTold(text, row, { success: 'answered', times: 3 });
    assert.equal(answers.get(`done: ${text}`) ?? 0, row.status === 'answered' ? 1 : 0, `answers of ${text}`);
  }
  const events = await world.query<{ n: number; of: number }>(
    `select count(*)::int as n, count(distinct data->>'message_id')::int as of from events
     where type in ('hook.answered', 'hook.failed')`,
  );
  assert.deepEqual(events, [{ n: messages, of: messages }], 'an end is told once');
  const answered = rows.filter(({ status }) => status === 'answered').length;
  const repeated = [...world.told.values()].filter(({ length }) => length > 1).length;
  assert.ok(repeated >= cutShort, 'who was cut between an answer and its delivery is asked again');
  return [`${answered} answered, ${messages - answered} failed with their reason, ${repeated} told more than once`];
}
