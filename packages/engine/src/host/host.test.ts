/** The report of the machine, where the machine host fails, is slow, or is asked often. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHost } from './host.ts';
import type { HostDeps } from './host.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const owner = { role: 'owner' } as const;

const hostOf = (driver: Partial<HostDeps['driver']>) =>
  createHost({
    database: { repeatable: async () => [] as never },
    driver: {
      hostMemory: async () => ({ totalMib: 4096, availableMib: 1024 }),
      hostDisk: async () => ({ totalMib: 10_000, freeMib: 6000 }),
      diskUse: async () => [],
      usage: async () => null,
      ...driver,
    },
    templates: {
      current: () => null,
      newest: () => null,
      isNewest: () => true,
      versionOf: () => null,
      progress: () => ({ runtime: 'openclaw', state: 'ready', step: 'ready', fraction: 1, since: new Date(0) }),
    },
    runtimes: new Map(),
    log,
  });

test('a machine host that fails or never answers costs its own part alone, and is asked once at a time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let asked = 0;
  const begun = Promise.withResolvers<void>();
  const host = hostOf({
    hostMemory: async () => {
      throw new Error('gone');
    },
    diskUse: () => {
      asked += 1;
      begun.resolve();
      return new Promise(() => undefined);
    },
  });
  const replies = [host.report(owner), host.report(owner)];
  // Both wait for the bound of the slow part.
  await begun.promise;
  await new Promise(setImmediate);
  t.mock.timers.tick(6_000);
  for (const { memory, agents, disk } of await Promise.all(replies)) {
    assert.deepEqual([memory, agents, disk?.freeMib], [null, null, 6000]);
  }
  assert.equal(asked, 1);
});

test('figures are held for some seconds, whoever asks', async () => {
  let read = 0;
  const host = hostOf({
    hostMemory: async () => {
      read += 1;
      return { totalMib: 1, availableMib: 1 };
    },
  });
  for (let calls = 0; calls < 5; calls += 1) await host.report(owner);
  assert.equal(read, 1);
});
