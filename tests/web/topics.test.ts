/** Each change that the service tells of makes a page read again, and is told in words on the agent's activity. */
import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { publicEvents } from '@lodge/domain';
import { staleBy, topicsOf } from '../../apps/web/src/live/topics.ts';
import { recentOf } from '../../apps/web/src/pages/home/recent.ts';
import { wordsOf } from '../../apps/web/src/pages/agent/activity/event-words.ts';

const types = [...publicEvents.keys()];
/** Families of events that are of no agent. */
const ofAccount = /^(?:account|api_key|invitation|oauth|password|session|sessions|skill|totp|webhook)\./;

test('each public type makes a query old', () => {
  const silent = types.filter((type) => topicsOf(type) === undefined || staleBy({ type, agent_id: 'a' }).length === 0);
  assert.deepEqual(silent, []);
  assert.equal(topicsOf('nothing.happened'), undefined);
});

test('each topic is the key of a query of a page', async () => {
  const root = join(import.meta.dirname, '../../apps/web/src');
  const files = (await readdir(root, { recursive: true })).filter((name) => /\.tsx?$/.test(name));
  const sources = await Promise.all(
    files.filter((name) => !name.startsWith('live')).map((name) => readFile(join(root, name), 'utf8')),
  );
  const all = sources.join('\n');
  for (const type of types) {
    for (const { queryKey } of staleBy({ type, agent_id: 'a' })) {
      const [subject, , topic] = queryKey.map(String);
      const written = subject === 'agent' && topic !== undefined ? `, '${topic}'` : `['${subject}'`;
      assert.ok(all.includes(written), `${type}: no query has the key ${queryKey.join()}`);
    }
  }
});

test('each event of an agent has words of its own on the page of its activity', () => {
  const bare = types.filter((type) => !ofAccount.test(type) && wordsOf({ type, data: {} }).title === type);
  assert.deepEqual(bare, ['agent.deleted']);
});

test('each event of an account has words of its own on Home, or is left to the audit log', () => {
  const told = (type: string) =>
    recentOf([{ object: 'event', id: '1', type, created_at: '2026-11-27T00:00:00Z', agent_id: null, data: {} }]);
  const ofAccounts = types.filter((type) => ofAccount.test(type));
  assert.deepEqual(
    ofAccounts.filter((type) => told(type).length === 0),
    ['account.updated', 'webhook.updated', 'session.created', 'session.ended', 'sessions.ended'],
  );
  assert.deepEqual(
    ofAccounts.filter((type) => told(type)[0]?.title === type),
    [],
  );
});
