import assert from 'node:assert/strict';
import { test } from 'node:test';
import { execute } from '@lodge/testkit/postgres';
import { testStore } from '../testing/test-store.ts';

const { database, store: one, another } = await testStore();
const two = await another();

const rule = { perMinute: 60 };

test('leases at once, of two servers, give no more than there is', async () => {
  const leases = await Promise.all(
    Array.from({ length: 40 }, (_, i) => (i % 2 ? one : two).limits.lease('at-once', rule, 6, 0)),
  );
  const granted = leases.reduce((sum, lease) => sum + lease.granted, 0);
  // While they run at most one or two tokens come back.
  assert.ok(granted >= 60 && granted <= 63, String(granted));
  assert.ok(leases.every(({ left }) => left >= 0));
});

test('what was not used goes back, but never beyond the capacity', async () => {
  assert.equal((await one.limits.lease('back', rule, 60, 0)).granted, 60);
  assert.equal((await two.limits.lease('back', rule, 6, 0)).granted, 0);
  assert.equal((await one.limits.lease('back', rule, 6, 5)).granted, 5);
  assert.equal((await one.limits.lease('full', rule, 1, 0)).left, 59);
  assert.ok((await one.limits.lease('full', rule, 0, 6)).left <= 60);
  // Nobody ever has more than a slice unused.
  await one.limits.lease('greedy', rule, 60, 0);
  assert.ok((await one.limits.lease('greedy', rule, 60, 1000)).granted <= 6);
});

test('tokens come back with time, by the clock of the database', async () => {
  await one.limits.lease('time', rule, 60, 0);
  await execute(
    database.connectionString,
    "update rate_buckets set at = at - interval '10 seconds' where subject = 'time'",
  );
  const { granted } = await two.limits.lease('time', rule, 60, 0);
  assert.ok(granted >= 10 && granted <= 12, String(granted));
});

test('a limit that was lowered counts at once', async () => {
  await one.limits.lease('lower', { perMinute: 600 }, 1, 0);
  assert.equal((await one.limits.lease('lower', { perMinute: 5 }, 60, 0)).granted, 5);
});

test('places: never more than there are, over two servers; one is free again when it is left, or its time is over', async () => {
  const entered = await Promise.all(
    Array.from({ length: 12 }, (_, i) => (i % 2 ? one : two).limits.enter('places', 5, 60_000)),
  );
  const places = entered.filter((place) => place !== null);
  assert.equal(places.length, 5);
  await two.limits.leave(places[0]!);
  assert.notEqual(await one.limits.enter('places', 5, 60_000), null);
  assert.equal(await one.limits.enter('places', 5, 60_000), null);
  await execute(database.connectionString, "update rate_places set until = now() - interval '1 second'");
  assert.notEqual(await one.limits.enter('places', 5, 60_000), null, 'whoever held one was killed');
});

test('what counts no more is forgotten', async () => {
  await one.limits.lease('old', rule, 1, 0);
  await one.limits.lease('new', rule, 1, 0);
  await execute(
    database.connectionString,
    "update rate_buckets set at = now() - interval '3 minutes' where subject = 'old'",
  );
  await one.limits.prune();
  const rows = await execute<{ subject: string }>(
    database.connectionString,
    "select subject from rate_buckets where subject in ('old', 'new')",
  );
  assert.deepEqual(rows, [{ subject: 'new' }]);
});
