import type { Pass } from '../reconcile/pass.ts';
import { notDone } from '../reconcile/suspend.ts';

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
