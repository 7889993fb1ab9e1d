/**
 * Brings those settings of an agent that lie in its guest into effect: before the agent is reported running, when it goes on
 * after a pause, and while it runs. After a kill the next pass applies them again, which changes nothing.
 */
import { backoffMs } from '@lodge/domain';
import type { GuestAddress, RuntimeFacts } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import { StepFailed } from './pass.ts';
import type { Pass } from './pass.ts';

export interface Pauses {
  readonly firstMs: number;
  readonly maxMs: number;
}

export const applyPauses: Pauses = { firstMs: 2_000, maxMs: 5 * 60_000 };

/** The agents that did not accept their settings or packages, and when each is tried again. */
export class FailedApplies {
  private readonly pauses: Pauses;
  private readonly failed = new Map<string, { readonly what: string; readonly count: number; readonly next: number }>();

  constructor(pauses: Pauses) {
    this.pauses = pauses;
  }

  /** Whether it is too soon to try again. */
  waits(agent: AgentRow, digest: string): boolean {
    const last = this.failed.get(agent.id);
    return last?.what === nameOf(agent, digest) && Date.now() < last.next;
  }

  /** Counts a failure; returns how often these settings have failed in a row. */
  add(agent: AgentRow, digest: string): number {
    const what = nameOf(agent, digest);
    const last = this.failed.get(agent.id);
    const count = last?.what === what ? last.count + 1 : 1;
    const next = Date.now() + backoffMs(this.pauses, count);
    this.failed.set(agent.id, { what, count, next });
    return count;
  }

  forget(id: string): void {
    this.failed.delete(id);
  }
}

const nameOf = ({ executionId }: AgentRow, digest: string): string => `${executionId} ${digest}`;

/** Applies the settings in a running agent. */
export async function apply(pass: Pass, failed: FailedApplies): Promise<void> {
  const { agent, id, settingsDigest } = pass;
  const { keepAwake } = pass.deps;
  // Nobody talks to the agent while its guest is at work, so without the lease idleness would freeze it halfway.
  if ((await keepAwake.take(id)) === null) return;
  try {
    await bringIntoEffect(pass, pass.guest);
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    await pass.checkStillThere(error);
    pass.logToOperator('warn', 'settings not in effect; it will be tried again', { err: error.cause });
    if (failed.add(agent, settingsDigest) > 1) return;
    await pass.observe({ event: { type: 'agent.settings_delayed', data: {} } });
    return;
  } finally {
    keepAwake.drop(id);
  }
  failed.forget(id);
  await pass.observe({ settingsApplied: settingsDigest, event: { type: 'agent.settings_applied', data: pass.took } });
}

/**
 * Applies the settings in an agent that is about to be reported running. `applied` is what its guest has; returns the digest
 * for the row. `facts` are those of another template than the row's. On a failure the agent runs nevertheless, and the loop goes on trying.
 */
export async function applyBefore(
  pass: Pass,
  guest: GuestAddress,
  applied: string | null,
  facts?: RuntimeFacts,
): Promise<{ readonly settingsApplied: string | null }> {
  if (applied === pass.settingsDigest) return { settingsApplied: applied };
  try {
    await bringIntoEffect(pass, guest, facts);
    return { settingsApplied: pass.settingsDigest };
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    pass.logToOperator('warn', 'settings not in effect; it will be tried again', { err: error.cause });
    return { settingsApplied: null };
  }
}

/** Applies the settings. Rejects with `StepFailed` when the runtime did not accept them, or not in time. */
export async function bringIntoEffect(pass: Pass, guest: GuestAddress, facts?: RuntimeFacts): Promise<void> {
  const { deps, runtime, settings } = pass;
  const from = facts ?? (await pass.template())?.facts;
  if (!from) throw new StepFailed(new Error('the template its disk was made from is gone'), false);
  await pass.within(deps.bounds.applyMs, (signal) => runtime.apply(guest, from, settings, signal));
}
