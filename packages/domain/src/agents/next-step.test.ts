import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentStatuses } from './agent.ts';
import { nextStep, recentCrashes } from './next-step.ts';
import type { AgentFacts, VmFacts } from './next-step.ts';
import { operationCauses, operationKinds } from './operation.ts';
import type { OperationKind } from './operation.ts';

const now = new Date('2026-01-01T12:00:00Z');
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
const agent = (facts: Partial<AgentFacts> = {}): AgentFacts => ({
  desired: 'running',
  status: 'running',
  operation: null,
  executionId: 'one',
  acknowledged: true,
  nextFrom: null,
  restoreTo: null,
  crashes: [],
  size: 'small',
  machine: { vcpus: 1, memoryMib: 2048 },
  settingsFit: true,
  egressFit: true,
  browserFit: true,
  packagesFit: true,
  skillsFit: true,
  trouble: null,
  ...facts,
});
const vm = (state: VmFacts['state'], executionId = 'one', backup: string | null = null): VmFacts => ({
  state,
  executionId,
  backup,
});
const asked = (kind: OperationKind, facts: Partial<AgentFacts> = {}) =>
  agent({ operation: { kind, cause: 'request' }, ...facts });
const step = (facts: AgentFacts, there: VmFacts | null) => nextStep(facts, there, now);

const states = ['running', 'paused', 'unresponsive', 'dead', 'partial', 'disk-only', 'suspended'] as const;
const everyVm = [null, ...states.flatMap((state) => [vm(state), vm(state, 'other')])];
const everyTwo = states.flatMap((state) => [vm(state, 'two', 'one'), vm(state, 'one', 'other')]);
const everyOperation = [null, ...operationKinds.flatMap((kind) => operationCauses.map((cause) => ({ kind, cause })))];

/** Yields every combination of facts once. */
function* everything(
  given: Partial<AgentFacts> = {},
  vms: readonly (VmFacts | null)[] = everyVm,
): Generator<{ facts: AgentFacts; there: VmFacts | null }> {
  for (const status of agentStatuses) {
    for (const operation of everyOperation) {
      for (const crashes of [[], [minutesAgo(1)]]) {
        for (const there of vms) yield { facts: agent({ status, operation, crashes, ...given }), there };
      }
    }
  }
}

test('a deleted agent is removed whatever its status, operation and VM', () => {
  for (const { facts, there } of everything({ desired: 'deleted' }, [...everyVm, ...everyTwo]))
    assert.equal(step(facts, there).do, 'delete');
});

test('an acknowledged agent never gets a fresh disk', () => {
  for (const { facts, there } of everything()) assert.notEqual(step(facts, there).do, 'clone');
});

test('an agent that was never reported running is cloned, and never booted from a disk it does not have', () => {
  const unseen = { acknowledged: false, machine: null } as const;
  for (const there of everyVm) {
    assert.equal(step(agent({ status: 'provisioning', ...unseen }), there).do, 'clone');
    for (const kind of ['start', 'restart'] as const) {
      assert.equal(step(asked(kind, { status: 'error', ...unseen }), there).do, 'clone');
    }
    assert.equal(step(asked('start', { status: 'stopped', ...unseen }), there).do, 'clone');
  }
});

test('an agent whose row names a saved machine starts from that, whatever there is of its own', () => {
  for (const acknowledged of [true, false]) {
    const named = { nextFrom: 'saved', acknowledged };
    for (const there of everyVm) {
      assert.equal(step(agent({ status: 'provisioning', ...named }), there).do, 'load');
      for (const kind of ['start', 'restart'] as const) {
        assert.equal(step(asked(kind, { status: 'error', ...named }), there).do, 'load');
      }
      assert.equal(step(asked('start', { status: 'stopped', ...named }), there).do, 'load');
    }
  }
});

test('a restore saves the present first, whatever there is of it, and starts from the saved machine then', () => {
  for (const there of everyVm) {
    for (const status of ['running', 'paused', 'stopped', 'error'] as const) {
      const lives = there?.state === 'unresponsive' && there.executionId === 'one';
      const waits = lives && (status === 'running' || status === 'paused');
      assert.equal(step(asked('restore', { status, restoreTo: 'saved' }), there).do, waits ? 'nothing' : 'go-back');
    }
    assert.equal(step(asked('restore', { status: 'provisioning', nextFrom: 'saved' }), there).do, 'load');
  }
  assert.equal(step(asked('restore'), vm('running')).do, 'record-status', 'nothing says where to go');
});

test('an operation is never left as it is: every combination with one names a step that ends it or goes on with it', () => {
  for (const { facts, there } of everything()) {
    if (facts.operation === null || there?.state === 'unresponsive') continue;
    assert.notEqual(step(facts, there).do, 'nothing', JSON.stringify({ facts, there }));
  }
});

test('a VM that does not answer is neither dead nor gone: its agent waits, and a restart alone ends it', () => {
  const mute = vm('unresponsive');
  for (const { facts } of everything({}, [mute])) {
    const kind = facts.operation?.kind;
    const isKept = facts.status === 'running' || facts.status === 'paused';
    if (!isKept || kind === 'restart') continue;
    const found = step(facts, mute).do;
    assert.ok(found === 'nothing' || found === 'record-status', JSON.stringify({ facts, found }));
  }
  assert.equal(step(asked('stop'), mute).do, 'nothing');
  assert.equal(step(asked('start', { status: 'stopped' }), mute).do, 'nothing', 'a restore that was cut short');
  assert.equal(step(asked('restart'), mute).do, 'restart');
  const sick = agent({ operation: { kind: 'restart', cause: 'health' } });
  assert.deepEqual(step(sick, mute), { do: 'restart', unhealthy: true });
});

test('what is stopped or in error holds no machine: it is freed, or there is nothing of it', () => {
  for (const status of ['stopped', 'error'] as const) {
    for (const there of everyVm) {
      const bare = there === null || there.state === 'disk-only' || there.state === 'suspended';
      assert.equal(step(agent({ status }), there).do, bare ? 'nothing' : 'free');
    }
  }
});

test('a running agent whose VM lives is left alone, and a paused one whose VM is frozen', () => {
  assert.equal(step(agent(), vm('running')).do, 'nothing');
  assert.equal(step(agent({ status: 'paused' }), vm('paused')).do, 'nothing');
});

test('a VM that is not as the status says is made so', () => {
  assert.equal(step(agent(), vm('paused')).do, 'thaw');
  assert.equal(step(agent(), vm('suspended')).do, 'restore');
  assert.equal(step(agent({ status: 'paused' }), vm('running')).do, 'freeze');
  assert.deepEqual(step(agent({ status: 'paused' }), vm('suspended')), { do: 'record-status', status: 'stopped' });
});

test('a VM that the host’s full disk stopped is paused, and one that stands still for anything else goes on', () => {
  const halted = { ...vm('paused'), halted: 'host_disk_full' } as const;
  assert.deepEqual(step(agent(), halted), { do: 'freeze', halted: true });
  assert.equal(step(agent({ status: 'paused' }), halted).do, 'nothing');
  assert.equal(step(asked('resume', { status: 'paused' }), halted).do, 'thaw');
  assert.equal(step(agent(), { ...halted, halted: 'unknown' }).do, 'thaw');
});

test('a VM of another incarnation does not count as the agent', () => {
  assert.deepEqual(step(agent(), vm('running', 'older')), { do: 'boot', crashed: true });
  assert.deepEqual(step(agent({ status: 'paused' }), vm('paused', 'older')), { do: 'boot', crashed: true });
});

test('the first death boots the disk, a second within ten minutes gives up, for a running agent as for a paused one', () => {
  for (const status of ['running', 'paused'] as const) {
    assert.deepEqual(step(agent({ status }), vm('dead')), { do: 'boot', crashed: true });
    assert.deepEqual(step(agent({ status, crashes: [minutesAgo(11)] }), vm('dead')), { do: 'boot', crashed: true });
    const second = step(agent({ status, crashes: [minutesAgo(9)] }), vm('dead'));
    assert.equal(second.do === 'fail' && second.code, 'vm_crashed');
  }
});

test('the reason tells apart what the last look into the guest found', () => {
  for (const trouble of ['out_of_memory', 'disk_full'] as const) {
    const died = step(agent({ crashes: [minutesAgo(1)], trouble }), vm('dead'));
    assert.equal(died.do === 'fail' && died.code, trouble);
    const operation = { kind: 'restart', cause: 'health' } as const;
    const sick = step(agent({ crashes: [minutesAgo(1)], trouble, operation }), vm('running'));
    assert.equal(sick.do === 'fail' && sick.code, trouble);
  }
});

test('a sick gateway is restarted once within ten minutes, and a restart by request always', () => {
  const sick = { operation: { kind: 'restart', cause: 'health' } } as const;
  assert.deepEqual(step(agent(sick), vm('running')), { do: 'restart', unhealthy: true });
  const again = step(agent({ ...sick, crashes: [minutesAgo(5)] }), vm('running'));
  assert.equal(again.do === 'fail' && again.code, 'gateway_unhealthy');
  assert.deepEqual(step(asked('restart', { crashes: [minutesAgo(5)] }), vm('running')), {
    do: 'restart',
    unhealthy: false,
  });
});

test('each verb goes on with what a control plane killed in its midst has left', () => {
  assert.equal(step(asked('pause'), vm('running')).do, 'freeze');
  assert.equal(step(asked('pause'), vm('paused')).do, 'freeze');
  assert.equal(step(asked('resume', { status: 'paused' }), vm('running')).do, 'thaw');
  assert.equal(step(asked('stop'), vm('running')).do, 'suspend');
  assert.equal(step(asked('stop'), vm('paused')).do, 'suspend');
  assert.deepEqual(step(asked('stop'), vm('suspended')), { do: 'record-status', status: 'stopped' });
  assert.deepEqual(step(asked('stop'), vm('dead')), { do: 'free', status: 'stopped' });
  assert.equal(step(asked('start', { status: 'stopped' }), vm('suspended', 'older')).do, 'restore');
  assert.equal(step(asked('start', { status: 'stopped' }), vm('running')).do, 'restore');
  assert.equal(step(asked('start', { status: 'stopped' }), vm('disk-only')).do, 'boot');
  assert.equal(step(asked('start', { status: 'provisioning' }), vm('partial')).do, 'boot');
  assert.equal(step(asked('restart'), vm('disk-only')).do, 'restart');
  assert.equal(step(asked('restart', { status: 'provisioning' }), vm('disk-only')).do, 'boot');
});

test('start, restart and stop lead out of error', () => {
  const error = { status: 'error' } as const;
  assert.deepEqual(step(asked('start', error), vm('disk-only')), { do: 'boot', crashed: false });
  assert.deepEqual(step(asked('restart', error), vm('disk-only')), { do: 'boot', crashed: false });
  assert.deepEqual(step(asked('stop', error), vm('disk-only')), { do: 'free', status: 'stopped' });
});

test('settings that a running guest has not taken are applied to it, before it is resized and never otherwise', () => {
  const unfit = { settingsFit: false } as const;
  assert.equal(step(agent({ ...unfit, size: 'large' }), vm('running')).do, 'apply');
  for (const { facts, there } of everything(unfit)) {
    if (facts.status === 'running' && facts.operation === null && there?.state === 'running') continue;
    assert.notEqual(step(facts, there).do, 'apply');
  }
});

test('packages are installed in a running guest that has its settings, and never otherwise', () => {
  const unfit = { packagesFit: false } as const;
  assert.equal(step(agent({ ...unfit, size: 'large' }), vm('running')).do, 'install');
  assert.equal(step(agent({ ...unfit, settingsFit: false }), vm('running')).do, 'apply');
  for (const { facts, there } of everything(unfit)) {
    if (facts.status === 'running' && facts.operation === null && there?.state === 'running') continue;
    assert.notEqual(step(facts, there).do, 'install');
  }
});

test('skills are brought into a running guest that has its settings, before packages, and never otherwise', () => {
  const unfit = { skillsFit: false } as const;
  assert.equal(step(agent({ ...unfit, packagesFit: false }), vm('running')).do, 'place-skills');
  assert.equal(step(agent({ ...unfit, settingsFit: false }), vm('running')).do, 'apply');
  for (const { facts, there } of everything(unfit)) {
    if (facts.status === 'running' && facts.operation === null && there?.state === 'running') continue;
    assert.notEqual(step(facts, there).do, 'place-skills');
  }
});

test('the browser’s disk is shown to a running guest before its settings, and never otherwise', () => {
  const unfit = { browserFit: false } as const;
  assert.equal(step(agent({ ...unfit, settingsFit: false }), vm('running')).do, 'show-browser');
  assert.equal(step(agent({ ...unfit, egressFit: false }), vm('running')).do, 'restrict');
  for (const { facts, there } of everything(unfit)) {
    if (facts.status === 'running' && facts.operation === null && there?.state === 'running') continue;
    assert.notEqual(step(facts, there).do, 'show-browser');
  }
});

test('egress rules that a living machine is not known to have are put on it, before all else and never otherwise', () => {
  const unfit = { egressFit: false } as const;
  assert.equal(step(agent({ ...unfit, settingsFit: false, size: 'large' }), vm('running')).do, 'restrict');
  assert.equal(step(agent({ ...unfit, status: 'paused' }), vm('paused')).do, 'restrict');
  for (const { facts, there } of everything(unfit)) {
    if (facts.operation === null && there?.executionId === 'one' && there.state === facts.status) continue;
    assert.notEqual(step(facts, there).do, 'restrict');
  }
});

test('a running machine that is not as asked for is resized, once nothing else is under way', () => {
  assert.equal(step(agent({ size: 'large' }), vm('running')).do, 'resize');
  assert.equal(step(asked('pause', { size: 'large' }), vm('running')).do, 'freeze');
  assert.equal(step(agent({ size: 'large', status: 'paused' }), vm('paused')).do, 'nothing');
});

test('only crashes within the window count', () => {
  assert.deepEqual(recentCrashes([minutesAgo(1), minutesAgo(30), minutesAgo(5)], now), [minutesAgo(5), minutesAgo(1)]);
});

test('of two copies the one whose execution the row names is kept, and an upgrade alone goes on with both', () => {
  for (const { facts, there } of everything({}, everyTwo)) {
    const upgrading = facts.operation?.kind === 'upgrade';
    const expected = there!.backup !== 'one' ? 'drop-backup' : upgrading ? 'upgrade' : 'roll-back';
    assert.equal(step(facts, there).do, expected);
  }
});

test('an upgrade begins with the agent’s own VM, and one that died meanwhile is started from its disk', () => {
  for (const status of ['running', 'paused'] as const) {
    for (const state of ['running', 'paused'] as const) {
      assert.equal(step(asked('upgrade', { status }), vm(state)).do, 'upgrade');
    }
    assert.equal(step(asked('upgrade', { status: 'provisioning' }), vm('suspended')).do, 'upgrade');
    assert.deepEqual(step(asked('upgrade', { status }), vm('dead')), { do: 'boot', crashed: true });
  }
});

test('what an upgrade that was given up left at rest is started', () => {
  assert.equal(step(agent({ status: 'provisioning' }), vm('suspended')).do, 'restore');
});

test('a save is of whatever is there, at rest too; a VM that died meanwhile is started first', () => {
  for (const status of ['running', 'paused'] as const) {
    for (const state of ['running', 'paused', 'suspended'] as const)
      assert.deepEqual(step(asked('snapshot', { status }), vm(state)), { do: 'save' });
    assert.deepEqual(step(asked('snapshot', { status }), vm('dead')), { do: 'boot', crashed: true });
    assert.deepEqual(step(asked('snapshot', { status }), vm('unresponsive')), { do: 'nothing' });
  }
  for (const status of ['stopped', 'error'] as const)
    for (const there of [vm('suspended'), vm('disk-only'), null])
      assert.deepEqual(step(asked('snapshot', { status }), there), { do: 'save' });
});
