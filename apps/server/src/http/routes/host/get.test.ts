import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { HostLook, VmUsage } from '@lodge/ports';
import { createHost } from '../../../../../../packages/engine/src/host/host.ts';
import type { HostDeps } from '../../../../../../packages/engine/src/host/host.ts';
import { openApp } from '../../../../../../packages/testkit/src/plane/http/open-app.ts';

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
  swappedMib: 0,
  diskMib: 0,
  snapshotMib: 0,
  cpuSeconds: 0,
  egressBytes: 0,
});

const { call, agent, sql, store, close } = await openApp({
  api: (usual) => ({
    ...usual,
    host: createHost({
      database: { repeatable: (work) => store.database.repeatable(work) },
      driver: {
        hostMemory: async () => ({ totalMib: 4096, availableMib: 1024.4 }),
        hostDisk: async () => ({ totalMib: 10_000, freeMib: 6000 }),
        diskUse: async () =>
          (await store.agents.all()).map(({ id }) => ({
            agentId: id,
            executionId: null,
            diskMib: 300,
            snapshotMib: 100,
          })),
        usage: async (id) => usageOf(id === foreign ? 900 : 400),
      },
      templates,
      runtimes: new Map([['runtime_a', { name: 'openclaw' }]]),
      hostLook,
      log,
    }),
  }),
});
after(close);
await sql("insert into accounts (id, name) values ('another', 'Another')");
const running = { status: 'running' };
await agent({ name: 'Mine' }, { ...running, template_id: 'new' });
const foreign = await agent({ name: 'Private' }, { ...running, account_id: 'another', template_id: 'old' });
await agent({ name: 'Asleep' }, { status: 'stopped' });

test('an owner sees memory, disk and whoever holds the most, and no name of the agent of another person', async () => {
  const { status, body } = await call('GET', '/v1/host');
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
  const { status, body } = await call('GET', '/v1/host', { key: 'agents:read' });
  assert.deepEqual([status, body.error.code], [403, 'insufficient_scope']);
  for (const role of ['member', 'viewer']) {
    await sql('update accounts set role = $1', [role]);
    const refused = await call('GET', '/v1/host');
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'owner_only']);
  }
});
