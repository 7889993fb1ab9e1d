import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { DatabaseBusyError } from '@lodge/ports';
import { testDatabase } from '@lodge/testkit/postgres';
import { sql } from 'kysely';
import { openDatabase } from './connection.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const server = await testDatabase();
const database = openDatabase({ ...server, maxConnections: 1, waitMs: 200 }, silent);
after(async () => {
  await database.close();
  await server.drop();
});

/** Takes the only connection and returns it on command. */
async function taken(): Promise<() => Promise<void>> {
  const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const work = database.transaction(async () => {
    begun.resolve();
    await over.promise;
  });
  await begun.promise;
  return async () => {
    over.resolve();
    await work;
  };
}

test('work whose connection does not come in time fails as busy, of whatever kind it is', async () => {
  const giveBack = await taken();
  const asked = [
    database.ping(),
    database.once((db) => sql`select 1`.execute(db)),
    database.repeatable((db) => sql`select 1`.execute(db)),
    database.read({ name: 'one', text: 'select to_json(1) as row' }, []),
    database.transaction(async () => undefined),
  ];
  const outcomes = await Promise.allSettled(asked);
  for (const outcome of outcomes) {
    assert.ok(outcome.status === 'rejected' && outcome.reason instanceof DatabaseBusyError);
  }
  await giveBack();
  await database.ping();
});

test('the queue for connections has a size: work beyond it fails without waiting', async () => {
  const giveBack = await taken();
  const waiting = Array.from({ length: 1_000 }, () => database.ping().catch((error: unknown) => error));
  const refused: string[] = [];
  const late = database.repeatable((db) => sql`select 1`.execute(db)).catch(() => refused.push('late'));
  void waiting[0]!.then(() => refused.push('first of those that wait'));
  await Promise.all([late, ...waiting]);
  assert.equal(refused[0], 'late');
  await giveBack();
});
