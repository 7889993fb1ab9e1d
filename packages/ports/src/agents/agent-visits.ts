import type { PrincipalSource } from '../accounts/api-keys.ts';
import type { ChangeNote } from '../events/change-note.ts';

/** One page of an agent. */
export interface AgentPage {
  readonly agentId: string;
  /** Null for its gateway; else a port of its guest. */
  readonly port: number | null;
}

/** A browser's right to view one page of one agent for a while. */
export interface Visit extends AgentPage {
  readonly id: string;
  readonly accountId: string;
  readonly expiresAt: Date;
}

/** A link to be made: its maker, its destination, and how long it can be opened and then viewed. */
export interface NewAgentLink extends AgentPage {
  readonly accountId: string;
  /** The key or session that link and visit end with. */
  readonly by: PrincipalSource;
  readonly path: string;
  readonly linkSeconds: number;
  readonly visitSeconds: number;
}

/**
 * Links and visits in the store, which holds only the SHA-256 of their tokens. Both end with the agent, with the key or
 * session that made them, and with the account's password.
 */
export interface AgentVisitStore {
  /**
   * Returns the time at which the link expires; null when the account has no such agent. The newest few hundred links of an
   * agent are kept.
   */
  createLink(link: NewAgentLink, hash: Uint8Array, note?: ChangeNote): Promise<Date | null>;
  /**
   * Turns a link that can still be opened into a visit, whose hash replaces the link's. One of two simultaneous callers
   * succeeds.
   */
  openLink(
    page: AgentPage,
    linkHash: Uint8Array,
    visitHash: Uint8Array,
  ): Promise<{ readonly visit: Visit; readonly path: string } | null>;
  visit(page: AgentPage, hash: Uint8Array): Promise<Visit | null>;
}

/** Browsers at agents' addresses. A link is opened once, and its browser then has a cookie. */
export interface AgentVisits {
  createLink(
    link: NewAgentLink,
    note?: ChangeNote,
  ): Promise<{ readonly token: string; readonly expiresAt: Date } | null>;
  /** Null when the token is no link to this page that can be opened. */
  openLink(
    page: AgentPage,
    token: string,
  ): Promise<{ readonly visit: Visit; readonly path: string; readonly token: string } | null>;
  /** Null when the token is no visit of this page in force. */
  visit(page: AgentPage, token: string): Promise<Visit | null>;
}
