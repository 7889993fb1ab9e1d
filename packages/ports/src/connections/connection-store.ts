/** Connections of agents, as their owners put them and as the host uses them. */
import type { ConnectionAllow, ConnectionKind } from '@lodge/domain';
import type { ChangeNote } from '../events/change-note.ts';
import type { ConnectionOAuth } from './connection-grants.ts';

export interface ConnectionHeader {
  /** The name as its owner wrote it. */
  readonly name: string;
  /** See `connectionHeaderContext`. */
  readonly sealed: string;
  readonly last4: string;
  readonly createdAt: Date;
}

/** The context bound to a sealed header of a connection. It does not open in another context. `name` is the header's. */
export const connectionHeaderContext = (agentId: string, connection: string, name: string): string =>
  `connection/${agentId}/${connection}/header/${name}`;

export interface ConnectionRow {
  readonly accountId: string;
  readonly agentId: string;
  readonly name: string;
  readonly kind: ConnectionKind;
  /** The URL, without a slash at its end. */
  readonly url: string;
  /** Empty for `mcp`. */
  readonly allow: readonly ConnectionAllow[];
  /** The server's names of the allowed tools; null allows all. Null for `http`. */
  readonly tools: readonly string[] | null;
  readonly enabled: boolean;
  /** The reason why Lodge disabled it, a sentence of ours; null when Lodge did not. */
  readonly statusReason: string | null;
  readonly headers: readonly ConnectionHeader[];
  /** Null when access is by `headers` or needs none, and for `http`. */
  readonly oauth: ConnectionOAuth | null;
  /** Whether the server asked for OAuth since the connection was put without it. */
  readonly asksOAuth: boolean;
  /** Changes with each change, and when a connection is removed and put again. */
  readonly revision: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** OAuth as its owner puts it. */
export interface ConnectionAuthChange {
  /** The owner's client; with null one is registered with each consent. */
  readonly clientId: string | null;
  /** Null for no secret. Undefined keeps the stored one, if client and destination are unchanged. */
  readonly clientSecret: { readonly sealed: string; readonly last4: string } | null | undefined;
  readonly scope: string | null;
}

type Kept = 'headers' | 'statusReason' | 'oauth' | 'asksOAuth' | 'revision' | 'createdAt' | 'updatedAt';

export interface ConnectionChange extends Omit<ConnectionRow, Kept> {
  /** All headers; undefined keeps the stored ones. */
  readonly headers: readonly Omit<ConnectionHeader, 'createdAt'>[] | undefined;
  /** Null for no OAuth; undefined keeps the stored one. */
  readonly auth: ConnectionAuthChange | null | undefined;
}

/**
 * The reason why a connection was not put.
 *
 * - `too_many`: the agent has its maximum of other connections.
 * - `headers_needed`, `auth_needed`: headers or a client's secret are stored for another URL or kind, and the change leaves
 *   them out. Whoever may change a URL must not send a credential elsewhere.
 * - `authorization_twice`: the result would have OAuth and a header `Authorization`.
 */
export type ConnectionNotPut = 'no_agent' | 'too_many' | 'headers_needed' | 'auth_needed' | 'authorization_twice';

export interface ConnectionStore {
  /** Returns the agent's connections by name. */
  ofAgent(accountId: string, agentId: string): Promise<readonly ConnectionRow[]>;
  find(accountId: string, agentId: string, name: string): Promise<ConnectionRow | null>;
  /** Replaces the connection. The grant stays while URL, client and scope stay, because the person consented to these. */
  put(change: ConnectionChange, max: number, note?: ChangeNote): Promise<ConnectionRow | ConnectionNotPut>;
  /** False when there is none. */
  remove(accountId: string, agentId: string, name: string, note?: ChangeNote): Promise<boolean>;
}

/**
 * The enabled connections that the host looks up for each call; agents being deleted have none. Outcomes of calls are
 * reported here too.
 */
export interface ConnectionDirectory {
  usable(agentId: string): Promise<readonly ConnectionRow[]>;
  usableOne(agentId: string, name: string): Promise<ConnectionRow | null>;
  /**
   * Records that an answer contained the connection's credential and was refused. Writes `connection.answer_refused`. After
   * `connectionBounds.echoesPerHour` within an hour, it disables the connection. Does nothing when the connection was put
   * again since.
   */
  echoed(of: { readonly agentId: string; readonly connection: string; readonly revision: string }): Promise<void>;
}
