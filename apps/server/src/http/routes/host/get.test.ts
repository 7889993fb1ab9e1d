import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentRow, HostLook, VmUsage } from '@lodge/ports';
import { createHost } from '../../../../../../packages/engine/src/host/host.ts';
import type { HostDeps } from '../../../../../../packages/engine/src/host/host.ts';
import { agentRow, testApp } from '../../../../../../packages/testkit/src/plane/http/test-app.ts';
import { accountId } from '../../../../../../packages/testkit/src/plane/http/memory-agents.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const template = { id: 'new', imageId: 'image', facts: {} };
const templates: HostDeps['templates'] = {
  current: () => template,
  newest: () => template,
  isNewest: (_, id) => id === 'new',
  versionOf: () => '2026.11.1',
  progress: () => ({ runtime: 'openclaw', state: 'ready', step: 'ready', fraction: 1, since: new Date(0) }),
};
const hostLook: HostLook = {
  findings: async () => ({
    findings: [
      { name: 'QEMU', state: 'ok', detail: '10.0', advice: null },
      { name: 'clock', state: 'note', detail: 'could not be seen', advice: null },
      { name: 'swap', state: 'warn', detail: '/dev/sda2', advice: 'swapoff -a' },
    ],
    unseen: ['network'],
  }),
  backups: async () => ({ place: '/backup', times: ['03:30'], last: null, isKnown: true }),
};
const usageOf = (memoryMib: number): VmUsage => ({
  executionId: null,
  memoryMib,
  diskMib: 0,
  snapshotMib: 0,
  cpuSeconds: 0,
  egressBytes: 0,
});

function hostOf(rows: readonly AgentRow[], driver: Partial<HostDeps['driver']> = {}) {
  return createHost({
    store: { all: async () => rows },
    driver: {
      hostMemory: async () => ({ totalMib: 4096, availableMib: 1024.4 }),
      hostDisk: async () => ({ totalMib: 10_000, freeMib: 6000 }),
      diskUse: async () => rows.map(({ id }) => ({ agentId: id, executionId: null, diskMib: 300, snapshotMib: 100 })),
      usage: async (id) => usageOf(id === rows[1]?.id ? 900 : 400),
      ...driver,
    },
    templates,
    runtimes: new Map([['runtime_a', { name: 'openclaw' }]]),
    hostLook,
    log,
  });
}

const rows = [
  agentRow({ name: 'Mine', templateId: 'new' }),
  agentRow({ name: 'Private', accountId: 'another', templateId: 'old' }),
  agentRow({ name: 'Asleep', status: 'stopped' }),
];

test('an owner sees memory, disk and whoever holds the most, and no name of the agent of another person', async () => {
  const { status, body } = await testApp({ host: hostOf(rows) }).call('GET', '/v1/host');
  assert.equal(status, 200);
  assert.deepEqual(body.memory, { total_mib: 4096, available_mib: 1024, agents_mib: 1300 });
  assert.deepEqual(body.disk, { total_mib: 10_000, free_mib: 6000, agents_mib: 1200 });
  assert.deepEqual(
    body.agents.top.map(({ name, memory_mib: memory }: { name: string; memory_mib: number }) => [name, memory]),
    [
      [null, 900],
      ['Mine', 400],
      ['Asleep', 0],
    ],
  );
  assert.deepEqual(body.versions.runtimes, [
    { runtime: 'openclaw', current: '2026.11.1', newest: '2026.11.1', outdated_agents: 1 },
  ]);
  assert.deepEqual(
    body.findings.map(({ state, name }: { state: string; name: string }) => [state, name]),
    [
      ['warn', 'swap'],
      ['note', 'clock'],
    ],
  );
  assert.deepEqual(body.unseen, ['network']);
  assert.deepEqual(body.backups, { place: '/backup', times: ['03:30'], last: null, is_known: true });
});

test('a member or a viewer is refused, and a key without usage:read too', async () => {
  for (const role of ['member', 'viewer'] as const) {
    const account = { id: accountId, name: 'Bo', email: null, role, totpEnabled: false, spendLimit: null } as const;
    const row = { ...account, recordsLlmCalls: false, createdAt: new Date(0) };
    const { call } = testApp({
      host: hostOf(rows),
      accounts: { account: async () => row, update: async () => row },
    });
    const { status, body } = await call('GET', '/v1/host');
    assert.deepEqual([status, body.error.code], [403, 'owner_only']);
  }
  const { status, body } = await testApp({ host: hostOf(rows) }).call('GET', '/v1/host', { key: 'agents:read' });
  assert.deepEqual([status, body.error.code], [403, 'insufficient_scope']);
});

test('a machine host that fails or never answers costs its own part alone, and is asked once at a time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let asked = 0;
  const begun = Promise.withResolvers<void>();
  const host = hostOf(rows, {
    hostMemory: async () => {
      throw new Error('gone');
    },
    diskUse: () => {
      asked += 1;
      begun.resolve();
      return new Promise(() => undefined);
    },
  });
  const { call } = testApp({ host });
  const replies = [call('GET', '/v1/host'), call('GET', '/v1/host')];
  // Both wait for the bound of the slow part.
  await begun.promise;
  for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
  t.mock.timers.tick(6_000);
  for (const { status, body } of await Promise.all(replies)) {
    assert.equal(status, 200);
    assert.deepEqual([body.memory, body.agents, body.disk.free_mib, body.disk.agents_mib], [null, null, 6000, null]);
    assert.equal(body.findings.length, 2);
  }
  assert.equal(asked, 1);
});

test('figures are held for some seconds, whoever asks', async () => {
  let read = 0;
  const host = hostOf(rows, {
    hostMemory: async () => {
      read += 1;
      return { totalMib: 1, availableMib: 1 };
    },
  });
  const { call } = testApp({ host });
  for (let calls = 0; calls < 5; calls += 1) assert.equal((await call('GET', '/v1/host')).status, 200);
  assert.equal(read, 1);
});
