/**
 * A stop: new work is refused (the row shows the operation), the turn in hand ends, the guest writes its disk out, and then
 * memory and disk are kept as one while everything else is freed. What a kill leaves, and the next pass does:
 *   - before the snapshot is whole: the VM, running or frozen, its gateway open or not; the stop is begun again;
 *   - after it: the snapshot; the row is settled.
 * A stop that fails leaves the agent running, and says so.
 */
import type { RuntimeFacts, Suspension } from '../ports/index.ts';
import { RuntimeBusy } from '../ports/index.ts';
import { boot } from './bring-up.ts';
import { runningAgain } from './freeze.ts';
import { LookAgain, StepFailed } from './pass.ts';
import type { Pass } from './pass.ts';
import { because, duration } from './words.ts';

export async function suspend(pass: Pass): Promise<void> {
  const { agent, deps, id } = pass;
  const template = await pass.template();
  if (!template) {
    await cameToNothing(pass, 'the template its disk was made from is gone');
    return;
  }
  // A frozen guest cannot end its work: it goes on for as long as that takes.
  if (pass.vm?.state === 'paused' && !(await goOn(pass))) return;
  const kept = await quiesce(pass, template.facts);
  if (kept === null) return;
  await pass.giveUpAddress();
  let suspension: Suspension;
  try {
    suspension = await deps.slots.save.run(pass.signal, () =>
      pass.within(deps.bounds.snapshotMs, (signal) => deps.driver.suspend(id, agent.executionId!, kept, signal)),
    );
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    if (!(await pass.stillThere())) throw new LookAgain(error.cause);
    pass.note('warn', 'snapshot failed', { err: error.cause });
    const why = error.isVm('disk_full') ? 'there is no room on the disk for its snapshot' : 'its snapshot failed';
    await reopen(pass, kept, why);
    return;
  }
  const size = `${Math.max(1, Math.round(suspension.bytes / 1024 / 1024))} MB`;
  const took = `(${duration(pass.elapsedMs)}; ${size} of memory kept)`;
  await pass.observe({
    status: 'stopped',
    statusReason: null,
    stoppedAt: new Date(),
    pausedAt: null,
    vmAddress: null,
    operation: null,
    log: pass.say('info', `Stopped ${because(agent.operation)} ${took}.`),
  });
  pass.note('info', 'agent stopped', { bytes: suspension.bytes, snapshot_ms: Math.round(suspension.ms) });
}

/** Lets a frozen VM go on. False when the stop, or upgrade, has ended with that. */
export async function goOn(pass: Pass): Promise<boolean> {
  const { deps, id, agent } = pass;
  try {
    await pass.within(deps.bounds.thawMs, () => deps.driver.resume(id, agent.executionId!));
    return true;
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    if (!(await pass.stillThere())) throw new LookAgain(error.cause);
    pass.note('warn', 'VM not resumed for its stop; booting its disk', { err: error.cause });
    await startFromDisk(
      pass,
      'The VM did not go on so that its work could end; the agent is being started from its disk.',
    );
    return false;
  }
}

/** The runtime's facts from here on; null when the stop has ended with the agent running. */
export async function quiesce(pass: Pass, facts: RuntimeFacts): Promise<RuntimeFacts | null> {
  const { deps, runtime, guest } = pass;
  try {
    return await pass.within(deps.bounds.quiesceMs, (signal) => runtime.suspend(guest, facts, signal));
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    if (!(await pass.stillThere())) throw new LookAgain(error.cause);
    pass.note('warn', 'runtime not suspended', { err: error.cause });
    if (error.cause instanceof RuntimeBusy) await cameToNothing(pass, 'it was at work and did not end that in time');
    else await reopen(pass, facts, 'its gateway did not get ready for it');
    return null;
  }
}

/** Back to a gateway that is open, after a stop that got as far as closing it. */
export async function reopen(pass: Pass, facts: RuntimeFacts, why: string): Promise<void> {
  const { deps, runtime, guest, settings, id, agent } = pass;
  try {
    await pass.within(deps.bounds.thawMs, () => deps.driver.resume(id, agent.executionId!));
    await pass.observe({ vmAddress: guest.address });
    await pass.within(deps.bounds.thawMs, (signal) => runtime.resume(guest, facts, settings, signal));
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    if (!(await pass.stillThere())) throw new LookAgain(error.cause);
    pass.note('warn', 'agent did not go on after a stop that failed; booting its disk', { err: error.cause });
    await startFromDisk(
      pass,
      `The agent was ${outcomeOf(pass).not}: ${why}. It did not go on either and is being started from its disk.`,
    );
    return;
  }
  await cameToNothing(pass, why);
}

export async function cameToNothing(pass: Pass, why: string): Promise<void> {
  const { not, code } = outcomeOf(pass);
  const message = `The agent was ${not}: ${why}. It goes on running.`;
  await pass.observe({
    ...runningAgain(pass),
    statusReason: { code, message, at: new Date() },
    log: pass.say('warn', message),
  });
}

/** A stop and an upgrade begin alike; what they say when they come to nothing. */
function outcomeOf({ agent }: Pass): { readonly not: string; readonly code: 'snapshot_failed' | 'upgrade_failed' } {
  return agent.operation?.kind === 'upgrade'
    ? { not: 'not upgraded', code: 'upgrade_failed' }
    : { not: 'not stopped', code: 'snapshot_failed' };
}

/** The operation ends here: what follows is a start like any other. */
async function startFromDisk(pass: Pass, message: string): Promise<void> {
  await pass.observe({
    status: 'provisioning',
    statusReason: { code: outcomeOf(pass).code, message, at: new Date() },
    vmAddress: null,
    pausedAt: null,
    operation: null,
    log: pass.say('warn', message),
  });
  await boot(pass, { crashed: false });
}
