import { Refusal, allPeers } from '@lodge/domain';
import { findOwnAgent } from '@lodge/store/agents';
import type { AgentsDeps } from './deps.ts';

/**
 * Returns the agents that an agent may ask, each once. Refuses an id that is no other agent of the account; one of `present`
 * may be gone.
 */
export async function checkedPeers(
  { database }: Pick<AgentsDeps, 'database'>,
  { accountId, id }: { readonly accountId: string; readonly id: string },
  peers: readonly string[],
  present: readonly string[] = [],
): Promise<readonly string[]> {
  for (const [index, peer] of peers.entries()) {
    if (peer === allPeers || present.includes(peer)) continue;
    if (peer === id || (await findOwnAgent(database, accountId, peer)) === null) {
      throw new Refusal('invalid_request', `peers[${index}] is no other agent of the account.`);
    }
  }
  return [...new Set(peers)];
}
