import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairGate } from './fair-gate.ts';

/** Work that reports its name when it begins, and ends on command. */
function bench(gate: FairGate) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (name: string, n: number, signal?: AbortSignal): Promise<void> => {
    const each = `${name}${n}`;
    const work = async (): Promise<void> => {
      begun.push(each);
      await new Promise<void>((resolve) => ends.set(each, resolve));
    };
    return gate.through(name, work, { ...(signal && { signal }) });
  };
  const end = async (each: string): Promise<void> => {
    ends.get(each)!();
    await new Promise(setImmediate);
  };
  return { begun, ask, end };
}

test('a name never has all places, and names that wait take turns however much of each waits', async () => {
  const { begun, ask, end } = bench(new FairGate({ inAll: 3, perName: 2, few: 1 }));
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
  const { begun, ask, end } = bench(new FairGate({ inAll: 1, perName: 1 }));
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

test('names take turns, and one name has its share of the places alone', async () => {
  const gate = new FairGate({ inAll: 2, perName: 1 });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string): Promise<void> =>
    gate.through(name, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
    });
  const all = [work('many'), work('many'), work('many'), work('one'), work('other')];
  assert.deepEqual(begun, ['many', 'one'], 'the second of a name waits, though there was a place');
  for (let ended = 0; ended < all.length; ended += 1) {
    ends[ended]!();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(all);
  assert.deepEqual(begun, ['many', 'one', 'many', 'other', 'many']);
});

test('work that fails gives its place back', async () => {
  const gate = new FairGate({ inAll: 1, perName: 1 });
  await assert.rejects(
    gate.through('a', () => Promise.reject(new Error('no'))),
    /no/,
  );
  assert.equal(await gate.through('a', () => Promise.resolve(1)), 1);
});

test('a name that is urgent when a place becomes free comes before those that wait longer', async () => {
  let urgent = '';
  const { begun, ask, end } = bench(new FairGate({ inAll: 1, isUrgent: (name) => name === urgent }));
  const all = [ask('a', 0), ask('b', 0), ask('c', 0), ask('d', 0)];
  await end('a0');
  urgent = 'd';
  await end('b0');
  assert.deepEqual(begun, ['a0', 'b0', 'd0']);
  await end('d0');
  await end('c0');
  await Promise.all(all);
});

test('a waiting room is entered by work that waits alone, and left once, by a turn or by giving up', async () => {
  const gate = new FairGate({ inAll: 1 });
  let waiting = 0;
  const room = {
    enter: () => {
      if (waiting === 2) throw new Error('full');
      waiting += 1;
    },
    leave: () => (waiting -= 1),
  };
  const leave = await gate.enter('a', { room });
  assert.equal(waiting, 0);
  const given = new AbortController();
  const givenUp = gate.enter('a', { room, signal: given.signal });
  const next = gate.enter('b', { room });
  await assert.rejects(gate.enter('c', { room }), /full/);
  assert.equal(waiting, 2);
  given.abort(new Error('given up'));
  await assert.rejects(givenUp, /given up/);
  assert.equal(waiting, 1);
  leave();
  assert.equal(waiting, 0, 'at once: what comes next counts whoever waits');
  given.abort();
  (await next)();
  assert.equal(waiting, 0);
  assert.ok(gate.isIdle);
});
