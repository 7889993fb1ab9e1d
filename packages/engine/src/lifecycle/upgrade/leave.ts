/** The first half of an upgrade, up to a VM at rest: the running work ends, and disk and memory are kept as they are. */
import { LookAgain, StepFailed } from '../reconcile/pass.ts';
import type { Pass } from '../reconcile/pass.ts';
import { cameToNothing, goOn, quiesce, reopen, notDone } from '../reconcile/suspend.ts';

/** The deadline, counted from the beginning of the operation, so that kills and repeats do not prolong it. */
export function deadlineOf({ agent, deps }: Pass): AbortSignal {
  const begunAt = agent.operation!.startedAt.getTime();
  return AbortSignal.timeout(Math.max(1, begunAt + deps.bounds.upgradeMs - Date.now()));
}

/** Returns false when the upgrade has ended, with the agent as it was. */
export async function leave(pass: Pass, deadline: AbortSignal): Promise<boolean> {
  const { agent, deps, id, runtime } = pass;
  const template = await pass.template();
  if (!template) {
    await cameToNothing(pass, 'the template its disk was made from is gone');
    return false;
  }
  // A frozen guest can neither end its work nor give its data.
  if (pass.vm?.state === 'paused' && !(await goOn(pass))) return false;
  const facts = await quiesce(pass, template.facts);
  if (facts === null) return false;
  await pass.giveUpAddress();
  try {
    const request = { facts, data: runtime.data };
    await pass.inSlot('save', () =>
      pass.within(deadline, (signal) => deps.endings.rest(id, agent.executionId!, request, signal)),
    );
    return true;
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    pass.logToOperator('warn', 'VM not saved to be upgraded', { err: error.cause });
    const full = error.isVm('disk_full');
    const why = full ? 'there is no room for a second disk beside its own' : 'its data was not saved';
    if (await pass.stillThere()) await reopen(pass, facts, why);
    else throw new LookAgain(error.cause);
    return false;
  }
}

/**
 * Gives the upgrade up. From this write on, the VM that was suspended for it is the agent again; the next pass takes it back
 * and starts it.
 */
export async function giveUp(pass: Pass, why: string): Promise<void> {
  await pass.observe({
    ...notDone(pass, why, 'as_before'),
    status: 'provisioning',
    vmAddress: null,
    operation: null,
  });
}
