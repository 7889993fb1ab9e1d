/**
 * An upgrade moves an agent to the newest template of its runtime: another VM, with what of the guest is the agent's own.
 *
 *   its VM ──> suspended with its data, backed up ──> a clone of the newest template gets the data ──> its disk is booted
 *     ▲                        │                                                                             │
 *     └── resumed, rolled back ─┴── whatever fails, or takes too long ◄───────────────────────────────────────┤
 *                                                                                     healthy: the row names it
 *                                                                                     the backup is freed ◄┘
 *
 * Of the two copies the agent is the one whose execution the row names, and that changes in the write that ends the
 * operation. So what a kill leaves is never in doubt: before there is a backup, the VM, with which the upgrade is begun
 * again; then the operation, and the other VM is made anew; after the write, a backup that is freed; and after a
 * write that gave the upgrade up, a backup that is restored.
 */
import { deadlineOf, leave } from './leave.ts';
import { moveIn } from './move-in.ts';
import type { Pass } from '../reconcile/pass.ts';

export async function upgrade(pass: Pass): Promise<void> {
  const deadline = deadlineOf(pass);
  const isBackedUp = pass.vm !== null && pass.vm.backup !== null;
  if (isBackedUp || (await leave(pass, deadline))) await moveIn(pass, deadline);
}
