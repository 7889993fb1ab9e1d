/**
 * An upgrade moves an agent to the newest template of its runtime: another VM gets the agent's own part of the guest.
 *
 *   its VM ──> at rest, with its data ──> a clone of the newest template gets the data ──> its disk is booted
 *     ▲               │                                                                           │
 *     └── started ────┴── whatever fails, or takes too long ◄─────────────────────────────────────┤
 *                                                                        healthy: the row names it
 *                                                                the machine at rest is freed ◄┘
 *
 * The agent is the copy whose execution the row names, and that changes in the write that ends the operation. So the state
 * after a kill is never in doubt. Before there is a machine at rest, the VM remains, and the upgrade begins again. Then the
 * operation remains, and the other VM is made anew. After the write, a machine at rest remains that is freed; after a write
 * that gave the upgrade up, one that is started from.
 */
import { keepBefore } from '../../saved/before-upgrade.ts';
import { deadlineOf, leave } from './leave.ts';
import { moveIn } from './move-in.ts';
import type { Pass } from '../reconcile/pass.ts';
import { restore } from '../reconcile/bring-up.ts';

export async function upgrade(pass: Pass): Promise<void> {
  const deadline = deadlineOf(pass);
  const hasAnother = pass.vm !== null && pass.vm.backup !== null;
  if (!hasAnother) {
    if (pass.vm?.state !== 'suspended' && !(await leave(pass, deadline))) return;
    await keepBefore(pass);
  }
  await moveIn(pass, deadline);
}

/**
 * Ends a failed upgrade: the machine at rest is started, and whatever was made in its place ends with that. It may be repeated
 * from any point.
 */
export async function rollBack(pass: Pass): Promise<void> {
  const { agent, deps, id } = pass;
  await pass.giveUpAddress();
  // The start gives the row another execution: by then nothing but the machine at rest must be there.
  await deps.endings.remove(id, { keepDisk: false, keepRest: true });
  // The lines that were read meanwhile came from the other guest's log.
  await pass.readLogFrom(agent.executionId!, 'end');
  await restore(pass);
}
