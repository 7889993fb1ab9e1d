import type { PrincipalSource } from '../accounts/api-keys.ts';
import type { ChangeNote } from '../events/change-note.ts';

/** One page of an agent. */
export interface AgentPage {
  readonly agentId: string;
  /** Null is its gateway; else a port of its guest. */
  readonly port: number | null;
}

/** A browser that may look at one page of one agent, for a while. */
export interface Visit extends AgentPage {
  readonly id: string;
  readonly accountId: string;
  readonly expiresAt: Date;
}

/** A link to be made: by which key or session, where it leads, and how long it can be opened and then looked at. */
export interface NewAgentLink extends AgentPage {
  readonly accountId: string;
  /** Link and visit end with this key or session. */
  readonly by: PrincipalSource;
  readonly path: string;
  readonly linkSeconds: number;
  readonly visitSeconds: number;
}

/** Links and visits in the store, where of a token only its SHA-256 is. Both end with the agent, with the key or session that made them, and with the account's password. */
export interface AgentVisitStore {
  /** When the link expires; null when the account has no such agent. Of one agent the newest few hundred are kept. */
  createLink(link: NewAgentLink, hash: Uint8Array, note?: ChangeNote): Promise<Date | null>;
  /** Makes a link that can still be opened a visit, whose hash takes the place of the link's. Of two at once one gets it. */
  openLink(
    page: AgentPage,
    linkHash: Uint8Array,
    visitHash: Uint8Array,
  ): Promise<{ readonly visit: Visit; readonly path: string } | null>;
  visit(page: AgentPage, hash: Uint8Array): Promise<Visit | null>;
}

/** Browsers at agents' addresses: a link is opened once, and its browser then has a cookie. */
export interface AgentVisits {
  createLink(
    link: NewAgentLink,
    note?: ChangeNote,
  ): Promise<{ readonly token: string; readonly expiresAt: Date } | null>;
  /** Null for what is no link to this page that can be opened. */
  openLink(
    page: AgentPage,
    token: string,
  ): Promise<{ readonly visit: Visit; readonly path: string; readonly token: string } | null>;
  /** Null for what is no visit of this page that goes on. */
  visit(page: AgentPage, token: string): Promise<Visit | null>;
}
