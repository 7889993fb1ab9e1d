/**
 * `freeze` and `thaw`: the vCPUs stop and go on. Both may be repeated; a kill between doing and saying leaves them to the
 * next pass.
 */
import type { StatusReason } from '@lodge/domain';
import { applyBefore } from './apply.ts';
import { boot } from './bring-up.ts';
import { tellDeath } from './death.ts';
import { StepFailed } from './pass.ts';
import type { Pass } from './pass.ts';
import { goOnRestricted } from './restrict.ts';

export async function freeze(pass: Pass, { halted = false }: { readonly halted?: boolean }): Promise<void> {
  const { agent, deps, id } = pass;
  if (halted) await tellDeath(pass);
  const isForDisk = halted || agent.operation?.cause === 'disk';
  const boundMs = isForDisk ? deps.bounds.freezeOnFullDiskMs : deps.bounds.freezeMs;
  const failed = await pass.attempt(boundMs, () => deps.driver.pause(id, agent.executionId!));
  if (failed instanceof StepFailed) {
    pass.logToOperator('warn', 'VM not frozen', { err: failed.cause });
    await pass.observe({ operation: null, event: { type: 'agent.pause_failed', data: {} } });
    return;
  }
  await pass.observe({
    status: 'paused',
    statusReason: isForDisk ? wroteTooMuch() : null,
    pausedAt: new Date(),
    operation: null,
    event: { type: 'agent.paused', data: { ...pass.because, ...(halted && { cause: 'disk' }), ...pass.took } },
  });
}

const wroteTooMuch = (): StatusReason => ({
  code: 'host_disk_full',
  message:
    'The host ran short of disk space, and this agent was writing more than others. It can be resumed once there is room; then delete what it does not need.',
  at: new Date(),
});

export async function thaw(pass: Pass): Promise<void> {
  const { agent, deps } = pass;
  const failed = await pass.attempt(deps.bounds.thawMs, () => goOnRestricted(deps, agent));
  if (failed instanceof StepFailed) {
    // The guest's pending writes are in its memory; they stay there and go on where there is room.
    if ((await deps.driver.inspect(pass.id))?.halted === 'host_disk_full') return freeze(pass, { halted: true });
    pass.logToOperator('warn', 'VM not resumed; booting its disk', { err: failed.cause });
    const event = { type: 'agent.resume_failed', data: {} } as const;
    await pass.observe({ status: 'provisioning', vmAddress: null, pausedAt: null, event });
    await boot(pass, { crashed: false });
    return;
  }
  const applied = await applyBefore(pass, pass.guest, agent.settingsApplied);
  await pass.observe({
    ...runningAgain(pass),
    ...applied,
    egressApplied: agent.egressVersion,
    event: { type: 'agent.resumed', data: { ...pass.because, ...pass.took } },
  });
  deps.rulesPut.add(agent, agent.executionId);
}

/** The machine goes on where it was, and its idle time begins anew. */
export function runningAgain({ vm, agent }: Pass) {
  return {
    status: 'running',
    statusReason: null,
    vmAddress: vm?.address ?? agent.vmAddress,
    startedAt: new Date(),
    pausedAt: null,
    operation: null,
  } as const;
}
