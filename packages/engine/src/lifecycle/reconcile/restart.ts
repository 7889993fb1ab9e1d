/**
 * A restart: the runtime ends its work, the machine is ended, and its disk is booted cold. After a kill before the row says
 * `provisioning`, the restart begins again; after a later kill, the boot does.
 */
import { recentCrashes, sentenceOf } from '@lodge/domain';
import type { Happening } from '@lodge/domain';
import { boot } from './bring-up.ts';
import { StepFailed } from './pass.ts';
import type { Pass } from './pass.ts';
import { goOnRestricted } from './restrict.ts';

export async function restart(pass: Pass, { unhealthy }: { readonly unhealthy: boolean }): Promise<void> {
  const { agent, deps, id, vm } = pass;
  if (vm?.executionId === agent.executionId && (vm?.state === 'running' || vm?.state === 'paused')) {
    await endOrderly(pass, vm.state === 'paused');
  }
  const now = new Date();
  const event: Happening = unhealthy
    ? { type: 'agent.gateway_unhealthy', data: {} }
    : { type: 'agent.restarting', data: pass.because };
  await pass.observe({
    status: 'provisioning',
    statusReason: unhealthy ? { code: 'gateway_unhealthy', message: sentenceOf(event)!, at: now } : null,
    vmAddress: null,
    pausedAt: null,
    ...(unhealthy && { crashes: [...recentCrashes(agent.crashes, now), now] }),
    event,
  });
  try {
    await pass.within(deps.bounds.removeMs, () => deps.endings.remove(id, { keepDisk: true }));
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    // The boot supersedes the rest of the old machine.
    pass.logToOperator('warn', 'the VM to be restarted could not be taken away yet', { err: error.cause });
  }
  await boot(pass, { crashed: false });
}

/** Ends the guest as orderly as it can be ended. */
async function endOrderly(pass: Pass, frozen: boolean): Promise<void> {
  const { agent, deps, runtime, guest } = pass;
  try {
    if (frozen) await pass.within(deps.bounds.thawMs, () => goOnRestricted(deps, agent));
    const template = await pass.template();
    if (!template) return;
    await pass.within(deps.bounds.shutdownMs, (signal) => runtime.shutdown(guest, template.facts, signal));
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    pass.logToOperator('warn', 'the runtime did not end in good order', { err: error.cause });
  }
}
