import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Slots } from './slots.ts';

const never = new AbortController().signal;

/** Work that names itself when it begins, and ends when it is told to. */
function bench(slots: Slots) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (accountId: string, n: number, signal = never): Promise<void> => {
    const agentId = `${accountId}${n}`;
    return slots.run({ accountId, agentId }, signal, async () => {
      begun.push(agentId);
      await new Promise<void>((resolve) => ends.set(agentId, resolve));
    });
  };
  const end = async (agentId: string): Promise<void> => {
    ends.get(agentId)!();
    await new Promise(setImmediate);
  };
  return { begun, ask, end };
}

test('an account never has all slots, and accounts that wait take turns however much of each waits', async () => {
  const { begun, ask, end } = bench(new Slots({ inAll: 3, perAccount: 2, few: 1 }));
  const all = [0, 1, 2, 3].map((n) => ask('a', n));
  await new Promise(setImmediate);
  assert.deepEqual(begun, ['a0', 'a1']);
  all.push(ask('b', 0), ask('b', 1), ask('c', 0));
  await new Promise(setImmediate);
  assert.deepEqual(begun.splice(0), ['a0', 'a1', 'b0']);
  await end('a0');
  assert.deepEqual(begun, ['c0'], 'the last one is for who has none');
  await end('c0');
  await end('a1');
  await end('b0');
  assert.deepEqual(begun.splice(0), ['c0', 'a2', 'b1'], 'each in its turn');
  await end('a2');
  assert.deepEqual(begun, ['a3']);
  await end('b1');
  await end('a3');
  await Promise.all(all);
});

test('work that is given up while it waits leaves its turn to the next', async () => {
  const { begun, ask, end } = bench(new Slots({ inAll: 1, perAccount: 1, few: 1 }));
  const first = ask('a', 0);
  const stop = new AbortController();
  const given = ask('a', 1, stop.signal);
  const last = ask('a', 2);
  stop.abort(new Error('given up'));
  await assert.rejects(given, /given up/);
  await end('a0');
  assert.deepEqual(begun, ['a0', 'a2']);
  await end('a2');
  await Promise.all([first, last]);
  await assert.rejects(ask('a', 3, stop.signal), /given up/);
});
