import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Semaphore } from './fair-gate.ts';

test('so many at a time, in their order, and a place that is given back twice is one', async () => {
  const semaphore = new Semaphore(2);
  const free = [await semaphore.enter(), await semaphore.enter()];
  const order: number[] = [];
  const third = semaphore.enter().then((leave) => (order.push(3), leave));
  const fourth = semaphore.enter().then((leave) => (order.push(4), leave));
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
  const semaphore = new Semaphore(1);
  const free = await semaphore.enter();
  const gaveUp = new AbortController();
  const waiting = semaphore.enter({ signal: gaveUp.signal });
  const next = semaphore.enter();
  gaveUp.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  free();
  (await next)();
  await semaphore.enter();
});

test('work that takes much waits for as much, in its order, and keeps nothing when it gives up', async () => {
  const bytes = new Semaphore(10);
  const order: string[] = [];
  const enter = async (name: string, amount: number, signal?: AbortSignal) => {
    const leave = await bytes.enter({ amount, ...(signal && { signal }) });
    order.push(name);
    return leave;
  };
  const first = await enter('six', 6);
  const second = enter('five', 5);
  const third = enter('one', 1);
  await new Promise(setImmediate);
  assert.deepEqual(order, ['six'], 'the small one does not pass the large one');
  first();
  (await second)();
  (await third)();
  const most = await enter('most', 8);
  const gaveUp = new AbortController();
  const nine = enter('nine', 9, gaveUp.signal);
  const two = enter('two', 2);
  gaveUp.abort(new Error('enough'));
  await assert.rejects(nine, /enough/);
  (await two)();
  most();
  (await enter('all', 10))();
  assert.deepEqual(order, ['six', 'five', 'one', 'most', 'two', 'all']);
});

test('work passes in order, also behind work that failed', async () => {
  const semaphore = new Semaphore(2);
  const began: number[] = [];
  let inside = 0;
  const passing = Array.from({ length: 7 }, (_, at) =>
    semaphore.through(async () => {
      began.push(at);
      inside += 1;
      assert.ok(inside <= 2);
      await new Promise(setImmediate);
      inside -= 1;
      if (at === 3) throw new Error('fails inside');
    }),
  );
  const outcomes = await Promise.allSettled(passing);
  assert.deepEqual(began, [0, 1, 2, 3, 4, 5, 6]);
  assert.equal(outcomes.filter(({ status }) => status === 'rejected').length, 1);
});

test('whoever leaves the queue takes no place with it', async () => {
  const semaphore = new Semaphore(1);
  const first = Promise.withResolvers<void>();
  const held = semaphore.through(() => first.promise);
  const leaving = new AbortController();
  const left = semaphore.through(async () => assert.fail('it has left'), { signal: leaving.signal });
  const later = semaphore.through(async () => 'through');
  // Its turn comes, and it leaves at the same moment.
  leaving.abort(new Error('closed'));
  first.resolve();
  await assert.rejects(left, { message: 'closed' });
  await held;
  assert.equal(await later, 'through');
  assert.equal(await semaphore.through(async () => 'free again'), 'free again');
});
