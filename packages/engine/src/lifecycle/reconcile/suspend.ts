/**
 * A stop: new work is refused (the row shows the operation), the running turn ends, and the guest writes its disk out. Then
 * its VM is saved to rest, and everything else is freed. A kill leaves this, and the next pass does:
 *   - before the saved machine is whole: the VM, running or frozen, its gateway open or not; the stop begins again;
 *   - after it: the machine at rest; the row gets its status.
 * A stop that fails leaves the agent running, and says so.
 */
import { sentenceOf } from '@lodge/domain';
import type { StatusReasonCode } from '@lodge/domain';
import type { RuntimeFacts, Template } from '@lodge/ports';
import { RuntimeBusy } from '@lodge/ports';
import { boot } from './bring-up.ts';
import { runningAgain } from './freeze.ts';
import { StepFailed } from './pass.ts';
import type { Pass } from './pass.ts';
import { goOnRestricted } from './restrict.ts';

export async function suspend(pass: Pass): Promise<void> {
  const template = await pass.template();
  if (!template) {
    await cameToNothing(pass, 'the template its disk was made from is gone');
    return;
  }
  const giveRoomBack = await pass.holdRoom();
  if (giveRoomBack === null) return endWithoutRoom(pass);
  try {
    await suspendWithRoom(pass, template);
  } finally {
    giveRoomBack();
  }
}

/** Ends a stop for lack of room. The VM stays frozen: its guest would write again. */
async function endWithoutRoom(pass: Pass): Promise<void> {
  const { event, statusReason } = notDone(pass, 'the host has no room for its snapshot', 'as_before');
  const before = pass.agent.statusReason;
  const isFull = before?.code === 'host_disk_full';
  await pass.observe({ operation: null, event, statusReason: isFull ? before : statusReason });
}

async function suspendWithRoom(pass: Pass, template: Template): Promise<void> {
  const { agent, deps, id } = pass;
  // A frozen guest cannot end its work, so it goes on for as long as that takes.
  if (pass.vm?.state === 'paused' && !(await goOn(pass))) return;
  const kept = await quiesce(pass, template.facts);
  if (kept === null) return;
  await pass.giveUpAddress();
  const saving = await pass.inSlot('save', () =>
    pass.attempt(deps.bounds.snapshotMs, (signal) =>
      deps.endings.rest(id, agent.executionId!, { facts: kept }, signal),
    ),
  );
  if (saving instanceof StepFailed) {
    pass.logToOperator('warn', 'snapshot failed', { err: saving.cause });
    const why = saving.isVm('disk_full') ? 'there is no room on the disk for its snapshot' : 'its snapshot failed';
    await reopen(pass, kept, why);
    return;
  }
  const memory_mib = Math.max(1, Math.round(saving.bytes / 1024 / 1024));
  await pass.observe({
    status: 'stopped',
    statusReason: null,
    stoppedAt: new Date(),
    pausedAt: null,
    vmAddress: null,
    operation: null,
    event: { type: 'agent.stopped', data: { ...pass.because, kept: 'memory', ...pass.took, memory_mib } },
  });
  pass.logToOperator('info', 'agent stopped', { bytes: saving.bytes, snapshot_ms: Math.round(saving.ms) });
}

/** Lets a frozen VM go on. Returns false when the stop, or upgrade, has ended with that. */
export async function goOn(pass: Pass): Promise<boolean> {
  const { deps, agent } = pass;
  const failed = await pass.attempt(deps.bounds.thawMs, () => goOnRestricted(deps, agent));
  if (!(failed instanceof StepFailed)) return true;
  pass.logToOperator('warn', 'VM not resumed for its stop; booting its disk', { err: failed.cause });
  await startFromDisk(pass, null);
  return false;
}

/** Ends the guest's work. Returns the runtime's facts from here on; null when the stop has ended with the agent running. */
export async function quiesce(pass: Pass, facts: RuntimeFacts): Promise<RuntimeFacts | null> {
  const { deps, runtime, guest } = pass;
  const kept = await pass.attempt(deps.bounds.quiesceMs, (signal) => runtime.quiesce(guest, facts, signal));
  if (!(kept instanceof StepFailed)) return kept;
  pass.logToOperator('warn', 'runtime not suspended', { err: kept.cause });
  if (kept.cause instanceof RuntimeBusy) await cameToNothing(pass, 'it was at work and did not end that in time');
  else await reopen(pass, facts, 'its gateway did not get ready for it');
  return null;
}

/** Opens the gateway again, after a stop that got as far as closing it. */
export async function reopen(pass: Pass, facts: RuntimeFacts, why: string): Promise<void> {
  const { deps, runtime, guest, settings, id, agent } = pass;
  try {
    await pass.within(deps.bounds.thawMs, () => deps.driver.resume(id, agent.executionId!));
    await pass.observe({ vmAddress: guest.address });
    await pass.within(deps.bounds.thawMs, (signal) => runtime.resume(guest, facts, settings, signal));
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    await pass.checkStillThere(error);
    pass.logToOperator('warn', 'agent did not go on after a stop that failed; booting its disk', { err: error.cause });
    await startFromDisk(pass, why);
    return;
  }
  await cameToNothing(pass, why);
}

export async function cameToNothing(pass: Pass, why: string): Promise<void> {
  await pass.observe({ ...runningAgain(pass), ...notDone(pass, why, 'runs_on') });
}

/** The event of a stop or an upgrade that came to nothing; both begin alike. */
export function notDone({ agent }: Pass, why: string | null, outcome: 'runs_on' | 'as_before' | 'boots') {
  const isUpgrade = agent.operation?.kind === 'upgrade';
  const event = { type: isUpgrade ? 'agent.upgrade_failed' : 'agent.stop_failed', data: { why, outcome } } as const;
  const code: StatusReasonCode = isUpgrade ? 'upgrade_failed' : 'snapshot_failed';
  return { event, statusReason: { code, message: sentenceOf(event)!, at: new Date() } };
}

/** Ends the operation: a start like any other follows. */
async function startFromDisk(pass: Pass, why: string | null): Promise<void> {
  await pass.observe({
    ...notDone(pass, why, 'boots'),
    status: 'provisioning',
    vmAddress: null,
    pausedAt: null,
    operation: null,
  });
  await boot(pass, { crashed: false });
}
