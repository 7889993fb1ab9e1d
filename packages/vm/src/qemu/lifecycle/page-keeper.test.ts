import assert from 'node:assert/strict';
import { once } from 'node:events';
import { beforeEach, test } from 'node:test';
import { AgentCalls } from '../../calls.ts';
import type { Watched } from '../machine/watch.ts';
import { PageKeeper } from './page-keeper.ts';

const afterMs = 600_000;
const minute = 60_000;
const calls = new AgentCalls();
let vms: Watched[] = [];
let hasSwap = true;
/** VMs that stand still. */
const paused = new Set<string>();
/** The agents whose state was asked for, and those whose VMs were paged out. */
let asked: string[] = [];
let out: string[] = [];
let pageOut: (agentId: string, ends: AbortSignal) => Promise<void> = () => Promise.resolve();
let keeper: PageKeeper;

const vm = (agentId: string, executionId = 'e1'): Watched => ({ agentId, executionId }) as Watched;
const keeperWith = (pauseMs: number): PageKeeper =>
  new PageKeeper({
    watch: { all: () => vms },
    afterMs: pauseMs,
    hasSwap: async () => hasSwap,
    whilePaused: ({ agentId }, work) =>
      calls.run(agentId, {
        creates: null,
        yields: true,
        async work(ends) {
          asked.push(agentId);
          if (paused.has(agentId)) await work(ends);
          return paused.has(agentId);
        },
      }),
    async pageOut({ agentId }, ends) {
      out.push(agentId);
      await pageOut(agentId, ends);
    },
    log: { debug() {}, info() {} },
  });
/** A call for an agent, as the driver serves it. */
const call = (agentId: string, work: () => void): Promise<void> => {
  keeper.disturb(agentId);
  return calls.run(agentId, { creates: null, work: async () => work() });
};

beforeEach(() => {
  vms = [vm('a'), vm('b')];
  hasSwap = true;
  paused.clear();
  [asked, out] = [[], []];
  pageOut = () => Promise.resolve();
  keeper = keeperWith(afterMs);
});

test('a VM is paged out once it has been paused for long, and once in a pause', async () => {
  paused.add('a');
  await keeper.look(0);
  await keeper.look(afterMs - 1);
  assert.deepEqual(out, []);
  await keeper.look(afterMs);
  await keeper.look(3 * afterMs);
  assert.deepEqual(out, ['a'], 'b runs');
});

test('a pause that ends between two looks does not count towards the next', async () => {
  paused.add('a');
  await keeper.look(0);
  await call('a', () => paused.delete('a'));
  await call('a', () => paused.add('a'));
  await keeper.look(afterMs);
  assert.deepEqual(out, []);
  await keeper.look(2 * afterMs);
  assert.deepEqual(out, ['a']);
  await call('a', () => paused.delete('a'));
  await call('a', () => paused.add('a'));
  await keeper.look(2 * afterMs + minute);
  await keeper.look(3 * afterMs + minute);
  assert.deepEqual(out, ['a', 'a'], 'once in each pause');
});

test('a VM of another execution has not been paused for as long', async () => {
  paused.add('a');
  await keeper.look(0);
  vms = [vm('a', 'e2')];
  await keeper.look(afterMs);
  assert.deepEqual(out, []);
});

test('on a host without swap no VM is even asked', async () => {
  hasSwap = false;
  paused.add('a');
  for (const nowMs of [0, afterMs, 2 * afterMs]) await keeper.look(nowMs);
  assert.deepEqual([asked, out], [[], []]);
});

test('a call ends the page-out of its own agent alone, and waits for nothing else', async () => {
  paused.add('a').add('b');
  await keeper.look(0);
  const ended: string[] = [];
  const begun = Promise.withResolvers<void>();
  pageOut = async (agentId, ends) => {
    begun.resolve();
    if (agentId === 'a') await once(ends, 'abort');
    ended.push(agentId);
  };
  const look = keeper.look(afterMs);
  await begun.promise;
  await call('b', () => paused.delete('b'));
  assert.equal(ended.length, 0, 'a call for another agent');
  await call('a', () => ended.push('call'));
  assert.deepEqual(ended, ['a', 'call']);
  await look;
  assert.deepEqual(out, ['a'], 'b was called meanwhile');
});

test('a page-out that waited behind a call does not begin after it', async () => {
  paused.add('a');
  await keeper.look(0);
  const first = Promise.withResolvers<void>();
  const busy = calls.run('a', { creates: null, work: () => first.promise });
  const look = keeper.look(afterMs);
  await new Promise(setImmediate);
  const second = call('a', () => undefined);
  first.resolve();
  await Promise.all([busy, look, second]);
  assert.deepEqual(out, []);
});

test('a VM that cannot be paged out is left alone for the rest of its pause, and holds up no other', async () => {
  paused.add('a').add('b');
  pageOut = async (agentId) => {
    if (agentId === 'a') throw new Error('no such group');
  };
  for (const nowMs of [0, afterMs, 2 * afterMs]) await keeper.look(nowMs);
  assert.deepEqual(out, ['a', 'b']);
});

test('a stop ends the page-out under way, and the setting 0 begins none', { timeout: 10_000 }, async () => {
  paused.add('a');
  const begun = Promise.withResolvers<void>();
  pageOut = async (_, ends) => {
    begun.resolve();
    await once(ends, 'abort');
  };
  keeper = keeperWith(10);
  keeper.start();
  await begun.promise;
  await keeper.stop();
  [asked, out] = [[], []];
  const never = keeperWith(0);
  never.start();
  await never.stop();
  assert.deepEqual(out, []);
});
