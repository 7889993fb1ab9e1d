import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { atMost, untilAborted } from './waits.ts';

const never = new Promise<never>(() => undefined);

test('a wait ends with its signal, whatever the work does, and leaves nothing on it', async () => {
  const controller = new AbortController();
  assert.equal(await untilAborted(Promise.resolve(1), controller.signal), 1);
  await assert.rejects(untilAborted(Promise.reject(new Error('no')), controller.signal), /no/);
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
  const waiting = untilAborted(never, controller.signal);
  controller.abort(new Error('given up'));
  await assert.rejects(waiting, /given up/);
  await assert.rejects(untilAborted(never, controller.signal), /given up/);
});

test('a wait ends in time, as it is told to', async () => {
  assert.equal(await atMost(10_000, Promise.resolve(1), () => 2), 1);
  assert.equal(await atMost(1, never, () => 2), 2);
  const late = (): never => {
    throw new Error('too late');
  };
  await assert.rejects(atMost(1, never, late), /too late/);
  await assert.rejects(atMost(10_000, Promise.reject(new Error('no')), late), /no/);
});
