/**
 * The second half of an upgrade: another VM takes the place of the one at rest. Its disk is the newest template's with the
 * agent's data. It is booted, because a running runtime would still have the template's state in memory.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sizes } from '@lodge/domain';
import type { Happening } from '@lodge/domain';
import { restOf } from '@lodge/ports';
import type { Template, Vm, VmRequest } from '@lodge/ports';
import { guestOf } from '../../agents/guest-of.ts';
import { nothingInstalled, nothingPlaced } from '../../agents/settings.ts';
import { bringIntoEffect } from '../reconcile/apply.ts';
import { readyRuntime } from '../reconcile/bring-up.ts';
import { StepFailed } from '../reconcile/pass.ts';
import type { Pass } from '../reconcile/pass.ts';
import { giveUp } from './leave.ts';

/** Looks that a gateway may take after its start, when it may still be slow. */
const maxLooks = 3;
const betweenLooksMs = 1_000;

export async function moveIn(pass: Pass, deadline: AbortSignal): Promise<void> {
  const { agent } = pass;
  if (agent.status !== 'provisioning') {
    await pass.observe({
      status: 'provisioning',
      statusReason: null,
      vmAddress: null,
      pausedAt: null,
      event: { type: 'agent.upgrading', data: pass.because },
    });
  }
  try {
    const template = await newest(pass, deadline);
    const vm = await makeInItsPlace(pass, template, deadline);
    await pass.observe({
      status: 'running',
      statusReason: null,
      executionId: vm.executionId,
      templateId: template.id,
      runtimeVersion: versionIn(pass, template),
      startedAt: new Date(),
      stoppedAt: null,
      machine: vm.machine,
      settingsApplied: pass.settingsDigest,
      packagesApplied: nothingInstalled,
      skillsApplied: nothingPlaced,
      egressApplied: agent.egressVersion,
      operation: null,
      event: upgraded(pass, vm, versionIn(pass, template)),
    });
    pass.deps.rulesPut.add(agent, vm.executionId);
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    pass.logToOperator('warn', 'upgrade failed', { err: error.cause });
    await giveUp(pass, reasonFor(error));
    return;
  }
  pass.logToOperator('info', 'agent upgraded', { total_ms: Math.round(pass.elapsedMs) });
  await dropBackup(pass);
}

/** Frees the machine at rest in whose place another VM is. The next pass tries again after a kill or a failure. */
export async function dropBackup({ deps, id }: Pass): Promise<void> {
  await deps.driver.dropSaved(restOf(id));
}

function newest(pass: Pass, deadline: AbortSignal): Promise<Template> {
  const { agent, deps } = pass;
  return pass.within(deadline, async (signal) => {
    const template = await deps.templates.whenReady(agent.runtimeKind, signal, 'newest');
    if (template.id === agent.templateId) throw new Error('the newest template is the one the agent has');
    return template;
  });
}

async function makeInItsPlace(pass: Pass, template: Template, deadline: AbortSignal): Promise<Vm> {
  const { agent, deps, id, runtime } = pass;
  const { driver, endings, bounds } = deps;
  const { size, egress } = agent;
  const make = (from: VmRequest['from'], signal: AbortSignal): Promise<Vm> =>
    driver.create({ agentId: id, executionId: randomUUID(), machine: sizes[size], template, from, egress }, signal);
  const clone = await pass.within(deadline, (signal) => pass.inSlot('warm', () => make('clone', signal), signal));
  await pass.within(deadline, (signal) => runtime.shutdown(guestOf(driver, clone), template.facts, signal));
  await pass.within(deadline, (signal) => driver.carryOver(id, clone.executionId, runtime.data, signal));
  await pass.within(bounds.removeMs, () => endings.remove(id, { keepDisk: true }));
  return pass.inSlot('cold', async () => {
    const vm = await pass.within(deadline, (signal) => make('boot', signal));
    // The new guest's log begins anew, and the guest may make the first call to the broker.
    await pass.readLogFrom(vm.executionId, 'start');
    await pass.observe({ vmAddress: vm.address });
    await readyRuntime(pass, { from: 'boot', template, deadline }, vm);
    await bringIntoEffect(pass, guestOf(driver, vm), template.facts);
    await healthy(pass, template, vm, deadline);
    return vm;
  });
}

async function healthy(pass: Pass, template: Template, vm: Vm, deadline: AbortSignal): Promise<void> {
  const guest = guestOf(pass.deps.driver, vm);
  await pass.within(deadline, async (signal) => {
    for (let look = 1; ; look += 1) {
      const { gateway } = await pass.runtime.health(guest, template.facts, signal);
      if (gateway === null) return;
      if (look === maxLooks) throw new Error(`the gateway does not answer: ${gateway}`);
      await sleep(betweenLooksMs, undefined, { signal });
    }
  });
}

function reasonFor(failed: StepFailed): string {
  if (failed.isVm('no_capacity')) return 'the host has no room for its new VM';
  if (failed.timedOut) return 'on the newest image it did not become ready in time';
  return 'on the newest image the VM or the runtime in it failed to start';
}

const versionIn = ({ deps, runtime }: Pass, { id }: Template): string =>
  deps.templates.versionOf(id) ?? runtime.version;

function upgraded({ runtime, took }: Pass, { machine }: Vm, version: string): Happening {
  const { vcpus, memoryMib: memory_mib } = machine;
  return {
    type: 'agent.upgraded',
    data: { runtime: runtime.name, version, ...took, vcpus, memory_mib },
  };
}
