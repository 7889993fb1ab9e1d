import { lockAgent } from '@lodge/store/agents';
import type { Transaction } from '@lodge/store/database';
import { notFound } from './reading.ts';

/**
 * Locks the account's agent until the transaction ends, so what belongs to it is counted correctly. Refuses where it is another
 * account's, or is being deleted.
 */
export async function lockOwnAgent(
  trx: Transaction,
  { accountId, agentId }: { readonly accountId: string; readonly agentId: string },
): Promise<void> {
  const agent = await lockAgent(trx, agentId);
  if (agent?.accountId !== accountId || agent.desired === 'deleted') throw notFound(agentId);
}
