/** An error that an adapter leaves uncaught ends its own connection for a while, and no other one for long. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultAccess, defaultLifecycle, makeAgentId, openedState } from '@lodge/domain';
import { execute, testDatabase } from '@lodge/testkit/postgres';
import { findChannel, reopenChannel } from '@lodge/store/channels';
import type { ChannelRow } from '@lodge/store/channels';
import { traitsOf } from './faults.ts';
import type { FaultyStart } from './testing/faulty-relay.ts';
import { firstAccount } from '../../../../packages/store/src/testing/fixture.ts';
import { openTestStore } from '../../../../packages/store/src/testing/agents-fixture.ts';

const database = await testDatabase();
const log = { debug() {}, info() {}, warn() {}, error() {} };
const store = await openTestStore({ ...database, log });
const accountId = await firstAccount(store.database);
const children: ChildProcess[] = [];
after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await store.close();
  await database.drop();
});

async function agentWithChannel(): Promise<string> {
  const id = makeAgentId(randomInt);
  const made = { id, accountId, name: 'bot', description: null, runtimeKind: 'runtime_a', model: 'm/m' } as const;
  const rest = { size: 'small', lifecycle: defaultLifecycle, metadata: {}, llmKeys: [] } as const;
  await store.agents.create({ ...made, ...rest }, () => undefined);
  const put = { accountId, agentId: id, channel: 'telegram', enabled: true, access: defaultAccess } as const;
  await store.channels.put({ ...put, credentials: [] });
  return id;
}

async function twoAgents(): Promise<readonly [string, string]> {
  await execute(database.connectionString, `update channels set enabled = false`);
  return [await agentWithChannel(), await agentWithChannel()];
}

function relay(start: Omit<FaultyStart, 'connectionString'>): {
  readonly child: ChildProcess;
  readonly output: () => string;
} {
  const child = fork(new URL('./testing/faulty-relay.ts', import.meta.url), [], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: [],
  });
  children.push(child);
  let output = '';
  child.stderr!.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.send({ connectionString: database.connectionString, ...start });
  return { child, output: () => output };
}

async function until(agentId: string, is: (row: ChannelRow) => boolean): Promise<ChannelRow> {
  for (let n = 0; n < 600; n += 1) {
    const row = await store.database.repeatable((db) => findChannel(db, { accountId, agentId, channel: 'telegram' }));
    if (row !== null && is(row)) return row;
    await sleep(50);
  }
  assert.fail('the channel is not so within 30 s');
}

const hasFault = ({ status, statusReason }: ChannelRow): boolean =>
  status === 'disconnected' && /fault of Lodge/.test(statusReason!.message);
const isConnected = ({ status }: ChannelRow): boolean => status === 'connected';

test('a rejection that nobody took ends its own connection, for longer each time; the process goes on', async () => {
  const [poisoned, other] = await twoAgents();
  const { child, output } = relay({ agentId: poisoned, how: 'rejects' });
  const first = await until(poisoned, hasFault);
  assert.ok(!/in a row/.test(first.statusReason!.message));
  await until(other, isConnected);
  await execute(database.connectionString, `update channels set not_before = now() where agent_id = '${poisoned}'`);
  const again = await until(poisoned, (row) => hasFault(row) && /2 times in a row/.test(row.statusReason!.message));
  assert.equal(again.statusReason!.code, 'relay_down');
  const [wait] = await execute<{ s: number }>(
    database.connectionString,
    `select extract(epoch from not_before - now())::float8 as s from channels where agent_id = '${poisoned}'`,
  );
  assert.ok(wait!.s > 30 && wait!.s <= 60, `${wait!.s} s`);
  assert.equal((await until(other, isConnected)).status, 'connected');
  assert.equal(child.exitCode, null);
  assert.match(output(), /"kind":"TypeError","at":\["faulty-relay\.ts:\d+:\d+".*"faults":2,"one_connection":true/);
  assert.ok(!output().includes('SECRET'));
  await store.database.transaction((trx) =>
    reopenChannel(trx, { accountId, agentId: poisoned, channel: 'telegram' }, openedState('telegram', true, true)),
  );
  await until(poisoned, (row) => hasFault(row) && !/in a row/.test(row.statusReason!.message));
  child.kill('SIGKILL');
});

test('after an exception the next process takes up the others at once, and leaves alone where it came from', async () => {
  const [poisoned, other] = await twoAgents();
  const { child, output } = relay({ agentId: poisoned, how: 'throws' });
  const [code] = (await once(child, 'exit')) as [number];
  assert.equal(code, 1);
  assert.ok(!output().includes('SECRET'));
  await until(poisoned, hasFault);
  const startedAt = performance.now();
  const next = relay({ agentId: poisoned, how: 'throws' });
  const connections = (): Promise<{ agent_id: string }[]> =>
    execute(database.connectionString, `select agent_id from channels where enabled and lease_until > now()`);
  while ((await connections()).length === 0) await sleep(50);
  await until(other, isConnected);
  assert.ok(performance.now() - startedAt < 8_000);
  await sleep(1_000);
  assert.deepEqual(await connections(), [{ agent_id: other }]);
  assert.equal(next.child.exitCode, null);
});

test('an error is named by its kind and its places alone', () => {
  assert.deepEqual(traitsOf('SECRET'), { kind: 'string', at: [] });
  const error = new RangeError('SECRET');
  const { kind, at } = traitsOf(error);
  assert.equal(kind, 'RangeError');
  assert.match(at[0]!, /^faults\.test\.ts:\d+:\d+$/);
  error.stack = 'x'.repeat(100_000);
  assert.deepEqual(traitsOf(error).at, []);
  assert.deepEqual(traitsOf(Object.assign(error, { constructor: null })), { kind: 'Error', at: [] });
});
