/**
 * Ends a failed upgrade: the backup is the agent again, and goes on from its snapshot. It may be repeated from any point.
 */
import { restore } from '../reconcile/bring-up.ts';
import type { Pass } from '../reconcile/pass.ts';

export async function rollBack(pass: Pass): Promise<void> {
  const { agent, deps, id } = pass;
  await pass.giveUpAddress();
  await deps.endings.rollBack(id);
  // The lines that were read meanwhile came from the other guest's log.
  await pass.readLogFrom(agent.executionId!, 'end');
  await restore(pass);
}
