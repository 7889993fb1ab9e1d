import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sideBySide, runAll } from './side-by-side.ts';

const never = new AbortController().signal;

test('works run beside one another, and their results come in their order', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const second = async (): Promise<string> => {
    resolve('first');
    return 'second';
  };
  assert.deepEqual(await runAll(never, [() => promise, second]), ['first', 'second']);
});

test('a failure ends the others, is told when they have ended, and is the one that is told', async () => {
  let isOver = false;
  const slow = async (signal: AbortSignal): Promise<void> => {
    try {
      await sleep(60_000, undefined, { signal });
    } finally {
      isOver = true;
    }
  };
  const fails = (): Promise<void> => Promise.reject(new Error('no mirror'));
  await assert.rejects(runAll(never, [slow, fails]), /no mirror/);
  assert.ok(isOver);
});

test('who aborts ends all', async () => {
  const controller = new AbortController();
  const slow = (signal: AbortSignal): Promise<unknown> => sleep(60_000, undefined, { signal });
  const both = runAll(controller.signal, [slow, slow]);
  controller.abort(new Error('the host stops'));
  await assert.rejects(both, { name: 'AbortError' });
});

test('how far it is never goes back', () => {
  const reported: (readonly [string, number | undefined])[] = [];
  const [debian, npm] = sideBySide((step, fraction) => void reported.push([step, fraction]), 2);
  debian!('Debian', 0.5);
  npm!('npm');
  npm!('npm', 1);
  debian!('Debian: the kernel');
  assert.deepEqual(reported, [
    ['Debian', 0.25],
    ['npm', 0.25],
    ['npm', 0.75],
    ['Debian: the kernel', 0.75],
  ]);
});
