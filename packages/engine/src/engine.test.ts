/**
 * The engine on a real database and the fake driver: acknowledged changes stay true, and no resource is left without an
 * owner.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { AgentRow } from '@lodge/store/agents';
import { failAt, FakeHost, fakeSteps, hangAt } from '@lodge/vm/fake';
import { input, never, startPlane, until, World } from '../../testkit/src/plane/plane.ts';
import type { Plane } from '../../testkit/src/plane/plane.ts';

let world: World;
before(async () => {
  world = await World.open();
});
after(() => world.close());

const control = (host: FakeHost, changes: Parameters<typeof startPlane>[2] = {}) => startPlane(world, host, changes);
const find = (id: string) => world.store.agents.find(id);

async function settled(plane: Plane, id: string): Promise<AgentRow> {
  const row = await plane.agents.awaitStatus(world.accountId, id, 15_000, never);
  assert.ok(row, `${id} is gone`);
  return row;
}

test('a create becomes one running VM, a delete leaves nothing', async () => {
  const host = new FakeHost();
  const plane = await control(host);
  const { id } = await plane.agents.create(world.accountId, input);
  const row = await settled(plane, id);
  assert.equal(row.status, 'running');
  assert.equal(host.guestAt(row.vmAddress!)?.agentId, id);
  assert.equal((await world.store.directoryOf(row.host!).byAddress(row.vmAddress!))?.agentId, id);
  await plane.agents.delete(world.accountId, id, never);
  assert.equal(host.vms.size, 0);
  await assert.rejects(plane.agents.get(world.accountId, id), { code: 'agent_not_found' });
  await plane.end();
});

test('two identical creates that race make two agents', async () => {
  const host = new FakeHost();
  const plane = await control(host);
  const rows = await Promise.all([
    plane.agents.create(world.accountId, input),
    plane.agents.create(world.accountId, input),
  ]);
  assert.notEqual(rows[0].id, rows[1].id);
  for (const { id } of rows) assert.equal((await settled(plane, id)).status, 'running');
  assert.equal(host.vms.size, 2);
  await plane.end();
});

test('a delete during provisioning cancels it at once', async () => {
  const host = new FakeHost();
  host.behaviour = hangAt('daemon');
  const plane = await control(host);
  const { id } = await plane.agents.create(world.accountId, input);
  await until('the create hangs', () => host.vms.get(id)?.alive === true);
  await plane.agents.delete(world.accountId, id, never);
  assert.equal(host.vms.size, 0);
  assert.equal(await find(id), null);
  await plane.end();
});

test('a clone that fails once is made again; one that always fails ends in error and leaves nothing on the host', async () => {
  const host = new FakeHost();
  host.behaviour = failAt('machine', 'failed', 1);
  const plane = await control(host);
  const first = await plane.agents.create(world.accountId, input);
  assert.equal((await settled(plane, first.id)).status, 'running');
  host.behaviour = failAt('machine');
  const second = await plane.agents.create(world.accountId, input);
  const row = await settled(plane, second.id);
  assert.deepEqual([row.status, row.statusReason?.code], ['error', 'provisioning_failed']);
  assert.deepEqual([...host.vms.keys()], [first.id]);
  await plane.end();
});

test('a VM that dies is booted from its disk; the second death within ten minutes is an error that keeps the disk', async () => {
  const host = new FakeHost();
  const plane = await control(host);
  const { id } = await plane.agents.create(world.accountId, input);
  const before = await settled(plane, id);
  host.guestAt(before.vmAddress!)!.guest.files.set('kept', 'yes');
  host.kill(id);
  await until('the VM is back', async () => {
    const row = await find(id);
    return row?.status === 'running' && row.executionId !== before.executionId;
  });
  assert.equal(host.vms.get(id)!.guest.files.get('kept'), 'yes');
  host.kill(id);
  await until('the agent is in error', async () => (await find(id))?.status === 'error');
  assert.equal((await find(id))?.statusReason?.code, 'vm_crashed');
  assert.equal(host.vms.get(id)!.phase, 'disk');
  await plane.end();
});

for (const step of fakeSteps) {
  test(`a control plane killed before step ${step} of a create is followed by one that finishes it, with one VM`, async () => {
    const host = new FakeHost();
    host.behaviour = hangAt(step);
    const killed = await control(host);
    const { id } = await killed.agents.create(world.accountId, input);
    await until('the create hangs', () => host.vms.has(id));
    killed.kill();
    host.behaviour = () => Promise.resolve();
    const plane = await control(host);
    const row = await settled(plane, id);
    assert.equal(row.status, 'running');
    assert.deepEqual(
      [...host.vms.values()].map((vm) => [vm.agentId, vm.executionId]),
      [[id, row.executionId]],
    );
    await plane.end();
  });
}

test('what does not fit is refused and leaves no row, however many ask at once', async () => {
  const host = new FakeHost();
  host.memory = { totalMib: 1024 + 4096, availableMib: 5000 };
  const plane = await control(host);
  const creates = await Promise.allSettled(
    Array.from({ length: 6 }, () => plane.agents.create(world.accountId, input)),
  );
  const refused = creates.filter((create) => create.status === 'rejected');
  assert.equal(refused.length, 4);
  for (const { reason } of refused) assert.equal((reason as { code: string }).code, 'insufficient_capacity');
  assert.equal((await world.store.agents.all()).length, 2);
  await plane.end();
});

test('an account keeps to its quota', async () => {
  const plane = await control(new FakeHost(), { maxAgentsPerAccount: 1 });
  await plane.agents.create(world.accountId, input);
  await assert.rejects(plane.agents.create(world.accountId, input), { code: 'quota_exceeded' });
  await plane.end();
});

test('what belongs to no agent is removed from the host, and only that', async () => {
  const host = new FakeHost();
  const first = await control(host);
  const { id } = await first.agents.create(world.accountId, input);
  const { vmAddress } = await settled(first, id);
  await first.engine.stop();
  const owned = host.vms.get(id)!;
  host.vms.set('orphan000000', { ...owned, agentId: 'orphan000000' });
  const plane = await control(host);
  await until('the orphan is gone', () => !host.vms.has('orphan000000'));
  assert.equal(host.guestAt(vmAddress!)?.agentId, id);
  assert.equal((await find(id))?.status, 'running');
  await plane.end();
});

test('a bad model or key is refused by name before anything is written', async () => {
  const plane = await control(new FakeHost());
  const refusal = (field: RegExp) => (error: { code: string; message: string }) =>
    error.code === 'invalid_request' && field.test(error.message);
  const key = { provider: 'p', apiKey: 'k' };
  await assert.rejects(plane.agents.create(world.accountId, { ...input, model: 'bare' }), refusal(/^model /));
  await assert.rejects(
    plane.agents.create(world.accountId, { ...input, model: 'q/m' }),
    refusal(/^model .*known are: p/),
  );
  await assert.rejects(
    plane.agents.create(world.accountId, { ...input, llmKeys: [key, key] }),
    refusal(/^llm_keys\[1\]\.provider /),
  );
  await assert.rejects(
    plane.agents.create(world.accountId, { ...input, llmKeys: [{ ...key, provider: 'q' }] }),
    refusal(/^llm_keys\[0\]\.provider /),
  );
  assert.deepEqual(await world.store.agents.all(), []);
  await plane.end();
});
