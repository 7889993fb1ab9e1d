/** The owner learns why a VM died: from the last lines of its console in the agent's log, and from the agent's reason. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { reasonOfDeath, sentenceOfDeath, vmDeathCodes } from '@lodge/domain';
import type { VmDeath } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import { FakeHost } from '@lodge/vm/fake';
import { input, running, startPlane, until, World } from '../../../testkit/src/plane/plane.ts';
import { logPage } from '@lodge/store/logs';

let world: World;
before(async () => {
  world = await World.open();
});
after(() => world.close());

const find = async (id: string): Promise<AgentRow> => (await world.store.agents.find(id))!;
const logOf = async (id: string): Promise<string[]> => {
  const entries = await world.store.database.repeatable((db) =>
    logPage(db, { agentId: id, limit: 100, direction: 'asc' }),
  );
  return entries.map(({ source, message }) => `${source}: ${message}`);
};
const death: VmDeath = {
  code: 'guest_panic',
  detail: 'Attempted to kill \u001b[31minit!',
  console: ['its last words\r', '\u001b]0;title\u0007Kernel panic\u0000', '', 'token sk-ant-REDACTED'],
};
const why = 'The kernel of the guest panicked. (Attempted to kill init!)';

test('a VM that died is told with its reason and the last lines of its console, plain and without secrets', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id, executionId } = await running(world, plane);
  host.kill(id, death);
  await until('it is back', async () => {
    const row = await find(id);
    return row.status === 'running' && row.executionId !== executionId;
  });
  const log = await logOf(id);
  const from = log.indexOf('system: Last lines of the console:');
  assert.deepEqual(log.slice(from + 1, from + 3), ['console: its last words', 'console: Kernel panic']);
  assert.match(log[from + 3]!, /^console: token /);
  assert.doesNotMatch(log[from + 3]!, /abcdefghijkl/);
  assert.ok(log[from + 4]!.endsWith(`is being started again from its disk. ${why}`), log[from + 4]);

  host.kill(id, { ...death, code: 'host_out_of_memory', detail: '', console: [] });
  await until('it is in error', async () => (await find(id)).status === 'error');
  const { code, message } = (await find(id)).statusReason!;
  assert.equal(code, 'out_of_memory');
  assert.ok(message.endsWith(sentenceOfDeath({ code: 'host_out_of_memory', detail: '' })), message);
  await plane.end();
});

test('a start that failed because its VM ended says so, in the log of each attempt and in the reason', async () => {
  const host = new FakeHost();
  host.behaviour = async (step) => {
    if (step === 'daemon') throw new VmError('failed', 'QEMU ended /a/path', { death });
  };
  const plane = await startPlane(world, host);
  const { id } = await plane.agents.create(world.accountId, input);
  await until('it is in error', async () => (await find(id)).status === 'error');
  const { code, message } = (await find(id)).statusReason!;
  assert.deepEqual([code, message], ['provisioning_failed', `The VM or the runtime in it failed to start. ${why}`]);
  const log = await logOf(id);
  assert.equal(log.filter((line) => line === `system: The VM ended as it started. ${why}`).length, 2, 'two attempts');
  assert.equal(log.filter((line) => line === 'console: its last words').length, 2);
  assert.doesNotMatch(log.join('\n'), /path/);
  await plane.end();
});

test('a VM that the host’s full disk stopped is paused with that reason, and not started from its disk', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id, executionId } = await running(world, plane);
  host.halt(id, 'host_disk_full');
  await until('it is paused', async () => (await find(id)).status === 'paused');
  assert.equal((await find(id)).statusReason?.code, 'host_disk_full');
  await plane.agents.act(world.accountId, id, 'resume');
  await until('it runs', async () => (await find(id)).status === 'running');
  assert.deepEqual([(await find(id)).executionId, (await find(id)).crashes], [executionId, []]);
  await plane.end();
});

test('a VM that does not answer is neither ended nor started anew, keeps nobody waiting, and a restart ends it', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id, executionId } = await running(world, plane);
  host.silence(id, 'told to be silent');
  await plane.agents.act(world.accountId, id, 'pause');
  plane.kill();
  // A new control plane scans all agents first.
  const next = await startPlane(world, host);
  await running(world, next);
  const row = await find(id);
  assert.deepEqual(
    [row.status, row.executionId, row.crashes, row.operation?.kind],
    ['running', executionId, [], 'pause'],
  );
  host.silence(id, null);
  await until('it is paused', async () => (await find(id)).status === 'paused');
  host.silence(id, 'told to be silent');
  await next.agents.act(world.accountId, id, 'restart');
  await until('it is booted', async () => (await find(id)).operation === null && (await find(id)).status === 'running');
  assert.notEqual((await find(id)).executionId, executionId);
  await next.end();
});

test('every way to die has a reason that an agent may be in error for', () => {
  for (const code of vmDeathCodes)
    assert.match(reasonOfDeath({ code }), /^(?:vm_crashed|out_of_memory|host_disk_full|disk_full)$/);
});
