/** Every change leaves exactly one event in its transaction, and a call that changes nothing leaves none. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { randomFrom } from '@lodge/domain/testing';
import { counted, mismatches, watchFacts } from '../testing/facts.ts';
import { firstAccount } from '../testing/fixture.ts';
import { writeAtRandom } from '../testing/random-writes.ts';
import { testStore } from '../testing/test-store.ts';

const { database, store } = await testStore();
const accountId = await firstAccount(store.database);
await watchFacts(database.connectionString);

/** `LODGE_TEST_KILLS` is the number of kills of the writing process, `LODGE_TEST_WRITES` the number of random writes. */
const kills = Number(process.env.LODGE_TEST_KILLS ?? 5);
const most = Number(process.env.LODGE_TEST_WRITES ?? 1_500);

test('random writes: one event for each change, none for what changes nothing', async (t) => {
  const seed = randomInt(2 ** 31);
  t.diagnostic(`seed ${seed}`);
  let writes = 0;
  await writeAtRandom(store, accountId, randomFrom(seed), () => (writes += 1) <= most);
  assert.deepEqual(await mismatches(database.connectionString), []);
  const { facts, events } = await counted(database.connectionString);
  assert.ok(facts > most / 10, `${facts} facts, ${events} events of ${most} writes`);
});

test('kill -9 at any moment leaves no change without its event, and no event without its change', async (t) => {
  const script = fileURLToPath(new URL('../testing/write-until-killed.ts', import.meta.url));
  for (let n = 0; n < kills; n += 1) {
    const before = await counted(database.connectionString);
    const child = spawn(process.execPath, [script, database.connectionString, accountId], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    after(() => child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    await sleep(30 + randomInt(400));
    assert.equal(child.exitCode, null, 'it writes until it is killed');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const { facts, events } = await counted(database.connectionString);
    t.diagnostic(`killed after ${facts - before.facts} facts, ${events - before.events} events`);
    assert.deepEqual(await mismatches(database.connectionString), []);
  }
});
