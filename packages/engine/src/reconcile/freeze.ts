/** `freeze` and `thaw`: the vCPUs stop and go on. Both may be repeated; a kill between doing and saying leaves them to the next pass. */
import type { Observation } from '../ports/index.ts';
import { applyBefore } from './apply.ts';
import { boot } from './bring-up.ts';
import { LookAgain, StepFailed } from './pass.ts';
import type { Pass } from './pass.ts';
import { because, duration } from './words.ts';

export async function freeze(pass: Pass): Promise<void> {
  const { agent, deps, id } = pass;
  try {
    await pass.within(deps.bounds.freezeMs, () => deps.driver.pause(id, agent.executionId!));
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    if (!(await pass.stillThere())) throw new LookAgain(error.cause);
    pass.note('warn', 'VM not frozen', { err: error.cause });
    const log = pass.say('warn', 'Not paused: the VM did not stop in time. It goes on running.');
    await pass.observe({ operation: null, log });
    return;
  }
  await pass.observe({
    status: 'paused',
    statusReason: null,
    pausedAt: new Date(),
    operation: null,
    log: pass.say('info', `Paused ${because(agent.operation)} (${duration(pass.elapsedMs)}).`),
  });
}

export async function thaw(pass: Pass): Promise<void> {
  const { agent, deps, id } = pass;
  try {
    await pass.within(deps.bounds.thawMs, () => deps.driver.resume(id, agent.executionId!));
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    if (!(await pass.stillThere())) throw new LookAgain(error.cause);
    pass.note('warn', 'VM not resumed; booting its disk', { err: error.cause });
    const log = pass.say(
      'warn',
      'The paused VM could not be resumed; the agent is being started from its disk instead.',
    );
    await pass.observe({ status: 'provisioning', vmAddress: null, pausedAt: null, log });
    await boot(pass, { crashed: false });
    return;
  }
  const applied = await applyBefore(pass, pass.guest, agent.settingsApplied);
  const why = agent.operation === null ? '' : ` ${because(agent.operation)}`;
  await pass.observe({
    ...runningAgain(pass),
    ...applied,
    log: pass.say('info', `Resumed${why} (${duration(pass.elapsedMs)}).`),
  });
}

/** The machine goes on as before, where it is, and its idle time begins anew. */
export function runningAgain({ vm, agent }: Pass): Observation {
  return {
    status: 'running',
    statusReason: null,
    vmAddress: vm?.address ?? agent.vmAddress,
    startedAt: new Date(),
    pausedAt: null,
    operation: null,
  };
}
