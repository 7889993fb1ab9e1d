import type { AgentVisits, AgentVisitStore, Tokens } from '@lodge/ports';

/** Links to agents' pages and the visits that they become. The tokens go out, and the store keeps only their hashes. */
export function createAgentVisits(store: AgentVisitStore, tokens: Tokens): AgentVisits {
  return {
    async createLink(link, note) {
      const token = tokens.make();
      const expiresAt = await store.createLink(link, tokens.hash(token), note);
      return expiresAt && { token, expiresAt };
    },
    async openLink(page, linkToken) {
      if (!tokens.isWellFormed(linkToken)) return null;
      const token = tokens.make();
      const opened = await store.openLink(page, tokens.hash(linkToken), tokens.hash(token));
      return opened && { ...opened, token };
    },
    visit: async (page, token) => (tokens.isWellFormed(token) ? store.visit(page, tokens.hash(token)) : null),
  };
}
