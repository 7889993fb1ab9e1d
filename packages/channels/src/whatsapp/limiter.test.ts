import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Limiter } from './limiter.ts';

const never = new AbortController().signal;

test('so many at a time, in their order, and a place that is given back twice is one', async () => {
  const limiter = new Limiter(2);
  const free = [await limiter.enter(never), await limiter.enter(never)];
  const order: number[] = [];
  const third = limiter.enter(never).then((leave) => (order.push(3), leave));
  const fourth = limiter.enter(never).then((leave) => (order.push(4), leave));
  await Promise.resolve();
  assert.deepEqual(order, []);
  free[0]!();
  free[0]!();
  await third;
  await new Promise(setImmediate);
  assert.deepEqual(order, [3]);
  free[1]!();
  await fourth;
  assert.deepEqual(order, [3, 4]);
});

test('who gives up waiting takes no place', async () => {
  const limiter = new Limiter(1);
  const free = await limiter.enter(never);
  const gaveUp = new AbortController();
  const waiting = limiter.enter(gaveUp.signal);
  const next = limiter.enter(never);
  gaveUp.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  free();
  (await next)();
  await limiter.enter(never);
});
