import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogEntry } from '@lodge/ports';
import { testDatabase } from '@lodge/testkit/postgres';
import {
  admitAll,
  firstAccount,
  newAgent as someAgent,
} from '../../../../../../../packages/store/src/testing/fixture.ts';
import { followLog } from './follow.ts';
import type { FollowRequest } from './follow.ts';
import { logPage, logWriter } from '@lodge/store/logs';
import { openTestStore } from '../../../../../../../packages/store/src/testing/agents-fixture.ts';
import type { TestStore } from '../../../../../../../packages/store/src/testing/agents-fixture.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const database = await testDatabase();
/** Two servers on one database. */
const [here, there] = [await openTestStore({ ...database, log }), await openTestStore({ ...database, log })];
after(async () => {
  await Promise.all([here.close(), there.close()]);
  await database.drop();
});
const accountId = await firstAccount(here.database);

const newAgent = async (): Promise<string> => (await here.agents.create(someAgent(accountId), admitAll)).id;

function readFrom({ database: of, changes }: TestStore): FollowRequest['agents'] {
  return {
    logs: (_account, query) => of.repeatable((db) => logPage(db, query)),
    onLog: (id, listener) => changes.on('agent_log_changed', (grown) => (grown === null || grown === id) && listener()),
  };
}

const writers = 4;
const perWriter = 250;

/** Writes on both servers at once, each in its own batches. */
async function write(agentId: string): Promise<void> {
  const writer = async (w: number): Promise<void> => {
    for (let n = 0; n < perWriter; n += 5) {
      const entries = [0, 1, 2, 3, 4].map((i) => ({
        level: (n + i) % 2 === 0 ? ('info' as const) : ('error' as const),
        source: 'console' as const,
        message: `${w} ${n + i}`,
      }));
      await logWriter((w % 2 === 0 ? here : there).database).append(agentId, entries);
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, w) => writer(w)));
}

/** Returns all entries of followers that reconnect again and again, until `count` entries came. */
async function followed(agentId: string, count: number, filter: object): Promise<LogEntry[]> {
  const seen: LogEntry[] = [];
  while (seen.length < count) {
    const connection = new AbortController();
    const last = seen.at(-1);
    const batches = await followLog({
      agents: readFrom(seen.length % 2 === 0 ? here : there),
      accountId,
      filter: { agentId, ...filter },
      begin: last ? { after: last.id } : 'first',
      signal: connection.signal,
      pollMs: 30_000,
    });
    const cut = setTimeout(() => connection.abort(), 250);
    for await (const batch of batches) seen.push(...batch);
    clearTimeout(cut);
  }
  return seen;
}

test('while two servers write, a follower who reconnects gets every entry once, in order, with a filter too', async () => {
  const agentId = await newAgent();
  const all = followed(agentId, writers * perWriter, {});
  const errors = followed(agentId, (writers * perWriter) / 2, { minLevel: 'error' });
  await write(agentId);
  for (const seen of [await all, await errors]) {
    assert.ok(seen.every(({ id }, i) => i === 0 || id > seen[i - 1]!.id));
    const messages = new Set(seen.map(({ message }) => message));
    assert.equal(messages.size, seen.length);
  }
  assert.equal((await all).length, writers * perWriter);
  assert.ok((await errors).every(({ level }) => level === 'error'));
});

test('an entry that another server writes reaches a waiting follower at once', async () => {
  const agentId = await newAgent();
  const connection = new AbortController();
  const request = { agents: readFrom(here), accountId, filter: { agentId }, begin: { newest: 10 }, pollMs: 600_000 };
  const batches = await followLog({ ...request, signal: connection.signal });
  const next = batches.next();
  await sleep(300);
  const began = performance.now();
  await logWriter(there.database).append(agentId, [{ level: 'info', source: 'system', message: 'now' }]);
  assert.deepEqual(
    (await next).value?.map(({ message }: LogEntry) => message),
    ['now'],
  );
  assert.ok(performance.now() - began < 60_000);
  connection.abort();
  assert.equal((await batches.next()).done, true);
});
