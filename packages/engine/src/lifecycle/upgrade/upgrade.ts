/**
 * An upgrade moves an agent to the newest template of its runtime: another VM gets the agent's own part of the guest.
 *
 *   its VM ──> suspended with its data, backed up ──> a clone of the newest template gets the data ──> its disk is booted
 *     ▲                        │                                                                             │
 *     └── resumed, rolled back ─┴── whatever fails, or takes too long ◄───────────────────────────────────────┤
 *                                                                                     healthy: the row names it
 *                                                                                     the backup is freed ◄┘
 *
 * The agent is the copy whose execution the row names, and that changes in the write that ends the operation. So the state
 * after a kill is never in doubt. Before there is a backup, the VM remains, and the upgrade begins again. Then the operation
 * remains, and the other VM is made anew. After the write, a backup remains that is freed; after a write that gave the
 * upgrade up, a backup that is restored.
 */
import { deadlineOf, leave } from './leave.ts';
import { moveIn } from './move-in.ts';
import type { Pass } from '../reconcile/pass.ts';
import { restore } from '../reconcile/bring-up.ts';

export async function upgrade(pass: Pass): Promise<void> {
  const deadline = deadlineOf(pass);
  const isBackedUp = pass.vm !== null && pass.vm.backup !== null;
  if (isBackedUp || (await leave(pass, deadline))) await moveIn(pass, deadline);
}

/**
 * Ends a failed upgrade: the backup is the agent again, and goes on from its snapshot. It may be repeated from any point.
 */
export async function rollBack(pass: Pass): Promise<void> {
  const { agent, deps, id } = pass;
  await pass.giveUpAddress();
  await deps.endings.rollBack(id);
  // The lines that were read meanwhile came from the other guest's log.
  await pass.readLogFrom(agent.executionId!, 'end');
  await restore(pass);
}
