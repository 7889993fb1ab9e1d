/** Which agents of the account an agent may ask, and how far a question is passed on. */

/** In the place of ids: every agent of the account. */
export const allPeers = '*';
/** Ids in a list of peers. */
export const maxPeers = 32;

/** Agents in a chain, whoever asked first among them. */
export const maxAskChain = 3;

export const mayAsk = (peers: readonly string[], agentId: string): boolean =>
  peers.includes(allPeers) || peers.includes(agentId);

/** Why an agent cannot be asked by the last of a chain; null: it can. No agent is in a chain twice. */
export function chainTrouble(chain: readonly string[], agentId: string): string | null {
  if (chain.includes(agentId)) return 'agent is part of this chain of questions already: it cannot be asked again.';
  if (chain.length >= maxAskChain) return `A question is passed on to ${maxAskChain - 1} agents at most.`;
  return null;
}
