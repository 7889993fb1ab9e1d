import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BusyError } from '@lodge/ports';
import { Gate } from './gate.ts';

const bounds = { atOnce: 2, waiting: 8, waitingOfNetwork: 3, waitingOfSite: 5 };

/** Work that ends on command, and its outcomes. */
function world() {
  const gate = new Gate(bounds);
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const state = { running: 0, most: 0, order: [] as string[] };
  const enter = (site: string, network = site): Promise<'done' | 'busy'> =>
    gate
      .run({ site, network: `${site}/${network}` }, async () => {
        state.most = Math.max(state.most, ++state.running);
        await over;
        state.running--;
        state.order.push(site);
        return 'done' as const;
      })
      .catch((error: unknown) => {
        assert.ok(error instanceof BusyError);
        return 'busy' as const;
      });
  return { gate, enter, end, state };
}

const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const done = (outcomes: readonly string[]): number => outcomes.filter((outcome) => outcome === 'done').length;

test('two run at once, a few wait, and places come free again, also behind work that failed', async () => {
  const { gate, enter, end, state } = world();
  const all = times(12, (n) => enter(`site ${n}`));
  end();
  assert.equal(done(await Promise.all(all)), bounds.atOnce + bounds.waiting);
  assert.equal(state.most, 2);
  const failing = gate.run({ site: 'x', network: 'x' }, () => Promise.reject(new Error('failed')));
  await assert.rejects(failing, /failed/);
  assert.equal(done(await Promise.all(times(5, (n) => enter(`site ${n}`)))), 5);
});

test('no network and no site fills the queue, and others come in behind them', async () => {
  const { enter, end } = world();
  const running = times(2, () => enter('attacker'));
  const ofNetwork = times(10, () => enter('attacker', 'one'));
  const ofSite = times(10, (n) => enter('attacker', `n${n}`));
  const others = times(3, (n) => enter(`somebody ${n}`));
  end();
  assert.equal(done(await Promise.all(running)), 2);
  assert.equal(done(await Promise.all(ofNetwork)), bounds.waitingOfNetwork);
  assert.equal(done(await Promise.all(ofSite)), bounds.waitingOfSite - bounds.waitingOfNetwork);
  assert.equal(done(await Promise.all(others)), 3);
});

test('where sites have filled the queue together, one with less takes the place of the last of the one with most', async () => {
  const { enter, end } = world();
  const running = times(2, () => enter('first'));
  const filled = [...times(5, (n) => enter('a', `n${n}`)), ...times(3, (n) => enter('b', `n${n}`))];
  const late = [enter('c'), enter('d'), enter('a', 'again')];
  end();
  await Promise.all(running);
  assert.deepEqual(await Promise.all(late), ['done', 'done', 'busy']);
  assert.deepEqual(await Promise.all(filled), [...times(3, () => 'done'), 'busy', 'busy', 'done', 'done', 'done']);
});
