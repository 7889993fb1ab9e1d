/**
 * Steps at whose end nothing of an agent runs: `fail`, `free` and `delete`; and `record-status`, for a state that is reached
 * already.
 */
import type { AgentStatus, Happening } from '@lodge/domain';
import { tellDeath } from './death.ts';
import type { ReportedDeath } from './death.ts';
import { finishDelete } from '../observing.ts';
import { StepFailed } from './pass.ts';
import type { Pass } from './pass.ts';
import { withDeath } from './reason.ts';
import type { Reason } from './reason.ts';

/** Deletes all of the agent. A kill before the last line leaves a row that still says deleted. */
export async function remove(pass: Pass): Promise<void> {
  const { deps, id } = pass;
  await pass.giveUpAddress();
  await deps.endings.remove(id, { keepDisk: false });
  await finishDelete(deps.database, id, deps.holder);
  pass.logToOperator('info', 'agent deleted');
}

/**
 * Gives up until somebody asks again. A kill before the last line leaves the facts that led here, and a disk. If the VM
 * cannot be taken away in time the agent is in `error` nevertheless, and the next pass frees the VM.
 */
export async function fail(pass: Pass, { code, message }: Reason): Promise<void> {
  await pass.giveUpAddress();
  await takeAway(pass);
  await pass.observe({
    status: 'error',
    statusReason: { code, message, at: new Date() },
    operation: null,
    pausedAt: null,
    event: { type: 'agent.error', data: { code, message } },
  });
  pass.logToOperator('warn', 'agent in error', { code });
}

/** Does the same as `fail` for a VM that died, and says why it died. */
export async function failAfterDeath(pass: Pass, reason: Reason): Promise<void> {
  const death = await tellDeath(pass);
  await fail(pass, death ? withDeath(reason, death) : reason);
}

/** Frees the rest of the machine of an agent that is, or becomes, `stopped` or `error`. */
export async function free(pass: Pass, status: 'stopped' | 'error'): Promise<void> {
  const { agent } = pass;
  await pass.giveUpAddress();
  const died = agent.status === 'running' || agent.status === 'paused';
  // The death of an agent in `error` was reported before; a VM that could not be taken away comes here again and again.
  const death = died ? await tellDeath(pass) : null;
  await takeAway(pass);
  if (agent.operation === null) {
    pass.logToOperator('warn', 'a VM that no row wanted was ended', { status });
    return;
  }
  await pass.observe({
    status,
    statusReason: null,
    operation: null,
    stoppedAt: new Date(),
    pausedAt: null,
    event: stopped(pass, died ? 'disk_after_crash' : 'disk', death),
  });
}

/** Writes a status that is true already: the step was done, and the control plane ended before it said so. */
export async function recordStatus(pass: Pass, status: AgentStatus): Promise<void> {
  const { agent } = pass;
  if (status !== 'stopped' || agent.status === 'stopped') {
    const data = { kind: agent.operation?.kind ?? null, ...pass.because };
    await pass.observe({ operation: null, event: { type: 'agent.operation_ended', data } });
    return;
  }
  await pass.observe({
    status,
    statusReason: null,
    vmAddress: null,
    stoppedAt: new Date(),
    pausedAt: null,
    operation: null,
    event: stopped(pass, 'memory'),
  });
}

const stopped = (
  { because }: Pass,
  kept: 'memory' | 'disk' | 'disk_after_crash',
  death: ReportedDeath | null = null,
): Happening => {
  const why = death && { code: death.code, message: death.message };
  return { type: 'agent.stopped', data: { ...because, kept, duration_ms: null, memory_mib: null, ...why } };
};

/** Keeps an agent stopped that the host had no room to start; its snapshot stays for the next start. */
export async function keepStopped(pass: Pass, { code, message }: Reason): Promise<void> {
  await pass.observe({
    status: 'stopped',
    statusReason: { code, message, at: new Date() },
    vmAddress: null,
    operation: null,
    event: { type: 'agent.start_failed', data: { code, message } },
  });
}

async function takeAway(pass: Pass): Promise<void> {
  const { deps, id, agent } = pass;
  try {
    await pass.within(deps.bounds.removeMs, () => deps.endings.remove(id, { keepDisk: agent.acknowledged }));
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    pass.logToOperator('warn', 'the VM could not be taken away; it will be tried again', { err: error.cause });
  }
}
