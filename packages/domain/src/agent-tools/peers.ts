/** Rules for questions between agents of one account: who may be asked, and how far a question is passed on. */

/** Stands for every agent of the account in a list of ids. */
export const allPeers = '*';
/** Most ids in a list of peers. */
export const maxPeers = 32;

/** Most agents in a chain, the first asker included. */
export const maxAskChain = 3;

export const mayAsk = (peers: readonly string[], agentId: string): boolean =>
  peers.includes(allPeers) || peers.includes(agentId);

/**
 * Returns the reason why an agent cannot be asked, or null. `askers` led to the question, and `depth` is its depth in
 * questions. No agent is in a chain twice.
 */
export function chainTrouble(
  { askers, depth }: { readonly askers: readonly string[]; readonly depth: number },
  agentId: string,
): string | null {
  if (askers.includes(agentId))
    return 'agent waits for an answer in this chain of questions: it cannot be asked again.';
  if (depth >= maxAskChain) return `A question is passed on to ${maxAskChain - 1} agents at most.`;
  return null;
}
