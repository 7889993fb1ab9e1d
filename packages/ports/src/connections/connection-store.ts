/** Connections of agents, as their owners put them and as the host uses them. */
import type { ConnectionAllow, ConnectionKind } from '@lodge/domain';
import type { ChangeNote } from '../events/change-note.ts';
import type { ConnectionOAuth } from './connection-grants.ts';

export interface ConnectionHeader {
  /** As its owner wrote it. */
  readonly name: string;
  /** See `connectionHeaderContext`. */
  readonly sealed: string;
  readonly last4: string;
  readonly createdAt: Date;
}

/** What is bound to a sealed header of a connection: in another place it does not open. `name`: the header's. */
export const connectionHeaderContext = (agentId: string, connection: string, name: string): string =>
  `connection/${agentId}/${connection}/header/${name}`;

export interface ConnectionRow {
  readonly accountId: string;
  readonly agentId: string;
  readonly name: string;
  readonly kind: ConnectionKind;
  /** Without a slash at its end. */
  readonly url: string;
  /** Empty for `mcp`. */
  readonly allow: readonly ConnectionAllow[];
  /** The server's names; null: all. Null for `http`. */
  readonly tools: readonly string[] | null;
  readonly enabled: boolean;
  /** A sentence of ours: why Lodge disabled it. Null: it did not. */
  readonly statusReason: string | null;
  readonly headers: readonly ConnectionHeader[];
  /** Null: access is by `headers`, or needs none. Null for `http`. */
  readonly oauth: ConnectionOAuth | null;
  /** The server asked for OAuth since the connection was put, which has none. */
  readonly asksOAuth: boolean;
  /** Another with each change, also of one that was removed and put again. */
  readonly revision: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** OAuth as its owner puts it. */
export interface ConnectionAuthChange {
  /** Null: a client is registered with each consent. */
  readonly clientId: string | null;
  /** Null: it has none. Undefined: what is stored stays, if it is of this client and the connection leads where it led. */
  readonly clientSecret: { readonly sealed: string; readonly last4: string } | null | undefined;
  readonly scope: string | null;
}

type Kept = 'headers' | 'statusReason' | 'oauth' | 'asksOAuth' | 'revision' | 'createdAt' | 'updatedAt';

export interface ConnectionChange extends Omit<ConnectionRow, Kept> {
  /** All of them; undefined: those that are stored stay. */
  readonly headers: readonly Omit<ConnectionHeader, 'createdAt'>[] | undefined;
  /** Null: none. Undefined: what is stored stays. */
  readonly auth: ConnectionAuthChange | null | undefined;
}

/**
 * - `too_many`: the agent has as many others as it may.
 * - `headers_needed`, `auth_needed`: there are stored headers, or a client's secret, for another URL or kind, and the change
 *   leaves them out; whoever may change a URL must not send a credential where it did not belong.
 * - `authorization_twice`: there would be OAuth and a header `Authorization`.
 */
export type ConnectionNotPut = 'no_agent' | 'too_many' | 'headers_needed' | 'auth_needed' | 'authorization_twice';

export interface ConnectionStore {
  /** By name. */
  ofAgent(accountId: string, agentId: string): Promise<readonly ConnectionRow[]>;
  find(accountId: string, agentId: string, name: string): Promise<ConnectionRow | null>;
  /**
   * Replaces what is there. What was granted stays where URL, client and scope do: whoever consented did so for these.
   */
  put(change: ConnectionChange, max: number, note?: ChangeNote): Promise<ConnectionRow | ConnectionNotPut>;
  /** False: there is none. */
  remove(accountId: string, agentId: string, name: string, note?: ChangeNote): Promise<boolean>;
}

/** What the host looks up for each call: enabled ones of agents that are not being deleted. What became of calls is told here too. */
export interface ConnectionDirectory {
  usable(agentId: string): Promise<readonly ConnectionRow[]>;
  usableOne(agentId: string, name: string): Promise<ConnectionRow | null>;
  /**
   * An answer held the connection's credential, and was refused. Writes `connection.answer_refused`. As often as
   * `connectionBounds.echoesPerHour` within an hour, it disables the connection. Nothing where that was put again since.
   */
  echoed(of: { readonly agentId: string; readonly connection: string; readonly revision: string }): Promise<void>;
}
