/** An upgrade came to nothing: the backup is the agent again, and goes on from its snapshot. May be repeated from any point. */
import { restore } from '../reconcile/bring-up.ts';
import type { Pass } from '../reconcile/pass.ts';

export async function rollBack(pass: Pass): Promise<void> {
  const { agent, deps, id } = pass;
  await pass.giveUpAddress();
  await deps.endings.rollBack(id);
  // What was read meanwhile was the other guest's log.
  await pass.readLogFrom(agent.executionId!, 'end');
  await restore(pass);
}
