/** Steps at whose end nothing of an agent runs: `fail`, `free`, `delete`; and `record-status`, for what has come to its end already. */
import type { AgentStatus, Happening } from '@lodge/domain';
import { tellDeath } from './death.ts';
import type { ReportedDeath } from './death.ts';
import { StepFailed } from './pass.ts';
import type { Pass } from './pass.ts';
import { withDeath } from './reason.ts';
import type { Reason } from './reason.ts';

/** Nothing of the agent is left; a kill before the last line leaves a row that still says deleted. */
export async function remove(pass: Pass): Promise<void> {
  const { deps, id } = pass;
  await pass.giveUpAddress();
  await deps.endings.remove(id, { keepDisk: false });
  await deps.store.finishDelete(id, deps.holder);
  pass.logToOperator('info', 'agent deleted');
}

/**
 * Gives up until somebody asks again. A kill before the last line leaves the facts that led here, and a disk; where the VM
 * cannot be taken away in time the agent is in `error` nevertheless, and the next pass frees it.
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

/** `fail` for a VM that died: says why it did. */
export async function failAfterDeath(pass: Pass, reason: Reason): Promise<void> {
  const death = await tellDeath(pass);
  await fail(pass, death ? withDeath(reason, death) : reason);
}

/** Ends what is left of the machine of an agent that is, or becomes, `stopped` or `error`. */
export async function free(pass: Pass, status: 'stopped' | 'error'): Promise<void> {
  const { agent } = pass;
  await pass.giveUpAddress();
  const died = agent.status === 'running' || agent.status === 'paused';
  // Of one that is in `error` it was told before; what could not be taken away then is looked at again and again.
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

/** The row says what is so already: the step was done, and the control plane ended before it said so. */
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

/** A start that the host had no room for: the snapshot stays for the next one. */
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
