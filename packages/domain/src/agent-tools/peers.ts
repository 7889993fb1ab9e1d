/** Which agents of the account an agent may ask, and how far a question is passed on. */

/** In the place of ids: every agent of the account. */
export const allPeers = '*';
/** Ids in a list of peers. */
export const maxPeers = 32;

/** Agents in a chain, whoever asked first among them. */
export const maxAskChain = 3;

export const mayAsk = (peers: readonly string[], agentId: string): boolean =>
  peers.includes(allPeers) || peers.includes(agentId);

/**
 * Why an agent cannot be asked; null: it can. `askers` are those who led to the question, `depth` how many questions deep it is. No
 * agent is in a chain twice.
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
