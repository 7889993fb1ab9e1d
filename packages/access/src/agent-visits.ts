import type { AgentVisits, AgentVisitStore } from '@lodge/engine/ports';
import { hashToken, isToken, makeToken } from './tokens.ts';

/** Links to agents' pages and the visits they become: tokens outside, their hashes in the store. */
export function createAgentVisits(store: AgentVisitStore): AgentVisits {
  return {
    async createLink(link, note) {
      const token = makeToken();
      const expiresAt = await store.createLink(link, hashToken(token), note);
      return expiresAt && { token, expiresAt };
    },
    async openLink(page, linkToken) {
      if (!isToken(linkToken)) return null;
      const token = makeToken();
      const opened = await store.openLink(page, hashToken(linkToken), hashToken(token));
      return opened && { ...opened, token };
    },
    visit: async (page, token) => (isToken(token) ? store.visit(page, hashToken(token)) : null),
  };
}
