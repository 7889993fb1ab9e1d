/**
 * Browsers at agents' addresses. A link is opened once, and its browser then has a cookie. Link and visit end with the agent, with
 * the key or session that made them, and with the account's password. The tokens go out, and only their hashes are stored.
 */
import { Refusal } from '@lodge/domain';
import type { ActorNote, Tokens } from '@lodge/ports';
import { deleteVisitsBeyond, findVisit, insertLink, takeLink } from '@lodge/store/agents';
import type { AgentPage, NewAgentLink, VisitRow } from '@lodge/store/agents';
import type { Database } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';

/** Most links and visits of one agent: the newest are kept. */
const maxPerAgent = 500;

export type AgentVisits = ReturnType<typeof createAgentVisits>;

export function createAgentVisits(database: Database, tokens: Pick<Tokens, 'make' | 'hash' | 'isWellFormed'>) {
  return {
    /** `page` is its name for the event. Refuses with `agent_not_found`. */
    async createLink(
      { page, ...link }: NewAgentLink & { readonly page: string },
      note?: ActorNote,
    ): Promise<{ readonly token: string; readonly expiresAt: Date }> {
      const token = tokens.make();
      const { port, agentId } = link;
      const expiresAt = await database.transaction(async (trx) => {
        const expires = await insertLink(trx, link, tokens.hash(token));
        if (expires === undefined) throw new Refusal('agent_not_found', 'No agent has this id.');
        await deleteVisitsBeyond(trx, agentId, maxPerAgent);
        const data = { page, ...(port !== null && port > 0 && { port }) };
        await writeNote(trx, link, { type: 'agent.link_created', data }, note);
        return expires;
      });
      return { token, expiresAt };
    },
    /**
     * Null when the token is no link to this page that can be opened. It is not repeated after a lost connection, because the
     * first attempt may have used the link up.
     */
    async openLink(
      page: AgentPage,
      linkToken: string,
    ): Promise<{ readonly visit: VisitRow; readonly token: string } | null> {
      if (!tokens.isWellFormed(linkToken)) return null;
      const token = tokens.make();
      const visit = await database.once((db) => takeLink(db, page, tokens.hash(linkToken), tokens.hash(token)));
      return visit === undefined ? null : { visit, token };
    },
    /** Null when the token is no visit of this page in force. */
    async visit(page: AgentPage, token: string): Promise<VisitRow | null> {
      if (!tokens.isWellFormed(token)) return null;
      return (await database.repeatable((db) => findVisit(db, page, tokens.hash(token)))) ?? null;
    },
  };
}
