/** Work on a running agent that is quiet: between two turns, with its gateway closed. */
import type { SnapshotErrorCode } from '@lodge/domain';
import { RuntimeBusy } from '@lodge/ports';
import type { RuntimeFacts } from '@lodge/ports';
import { StepFailed } from '../lifecycle/reconcile/pass.ts';
import type { Pass } from '../lifecycle/reconcile/pass.ts';
import { goOnRestricted } from '../lifecycle/reconcile/restrict.ts';

/** `why` is a public sentence. */
export interface Failure {
  readonly why: string;
  readonly code: SnapshotErrorCode | null;
}

const busy = { why: 'The agent was at work and did not end that in time.', code: 'agent_busy' } as const;
export const failed = (why: string) => ({ why, code: null });

/**
 * Ends the agent's turn in hand, does the work, and lets the agent take turns again. Throws `LookAgain` when the VM ended
 * meanwhile.
 */
export async function whileQuiet<T>(pass: Pass, work: (facts: RuntimeFacts) => Promise<T>): Promise<T | Failure> {
  const { deps, runtime, guest } = pass;
  const template = await pass.template();
  if (template === null) return failed('The template that its disk was made from is gone.');
  // Work that was cut short left it frozen.
  if (pass.vm?.state === 'paused' && !(await goOn(pass))) return failed('Its machine did not go on.');
  const quiesce = (signal: AbortSignal): Promise<RuntimeFacts> => runtime.quiesce(guest, template.facts, signal);
  const facts = await pass.attempt(deps.bounds.saveQuiesceMs, quiesce);
  if (facts instanceof StepFailed) {
    pass.logToOperator('warn', 'runtime not suspended to be saved', { err: facts.cause });
    if (facts.cause instanceof RuntimeBusy) return busy;
    await openGateway(pass, template.facts);
    return facts.timedOut ? busy : failed('Its gateway did not get ready for it.');
  }
  const outcome = await work(facts);
  await openGateway(pass, facts);
  return outcome;
}

async function goOn(pass: Pass): Promise<boolean> {
  const failure = await pass.attempt(pass.deps.bounds.thawMs, () => goOnRestricted(pass.deps, pass.agent));
  if (!(failure instanceof StepFailed)) return true;
  pass.logToOperator('warn', 'VM not resumed to be saved', { err: failure.cause });
  return false;
}

/** Opens the gateway. One that stays closed is found by the supervision of gateways, which restarts the agent. */
async function openGateway(pass: Pass, facts: RuntimeFacts): Promise<void> {
  const { deps, runtime, guest, settings } = pass;
  const resume = (signal: AbortSignal): Promise<void> => runtime.resume(guest, facts, settings, signal);
  const failure = await pass.attempt(deps.bounds.thawMs, resume);
  if (failure instanceof StepFailed) {
    pass.logToOperator('warn', 'gateway not opened after a save', { err: failure.cause });
  }
}
