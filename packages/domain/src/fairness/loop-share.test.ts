import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoopShare } from './loop-share.ts';

/** Keeps the processor busy for a millisecond. */
function work(): void {
  const until = performance.now() + 1;
  while (performance.now() < until);
}

test('long work lets everybody else be served in between, and agents take turns whatever each has to do', async () => {
  const loop = new LoopShare();
  let loopTurns = 0;
  let isOver = false;
  const count = (): void => {
    loopTurns++;
    if (!isOver) setImmediate(count);
  };
  count();
  const steps: string[] = [];
  const job = (agent: string, length: number) => {
    let left = length;
    return loop.run(agent, () => {
      work();
      steps.push(agent);
      left--;
      return left > 0;
    });
  };
  const many = Array.from({ length: 10 }, () => job('many', 20));
  const one = job('one', 20);
  await one;
  const before = steps.filter((agent) => agent === 'many').length;
  await Promise.all(many);
  isOver = true;
  assert.ok(before < 60, `the one waited for ${before} of the other's 200 steps`);
  assert.ok(loopTurns > 40, `${loopTurns} loop turns for 220 ms of work`);
});

test('a step that fails ends its work alone', async () => {
  const loop = new LoopShare();
  await assert.rejects(
    loop.run('a', () => {
      throw new Error('no');
    }),
    /no/,
  );
  let steps = 0;
  await loop.run('a', () => {
    steps++;
    return steps < 3;
  });
  assert.equal(steps, 3);
});
