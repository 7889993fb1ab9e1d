/** Connections of agents, as the host uses them. */
import type { ConnectionAllow, ConnectionKind } from '@lodge/domain';
import type { ConnectionOAuth, ConnectionRef } from './connection-grants.ts';

export interface ConnectionHeader {
  /** The name as its owner wrote it. */
  readonly name: string;
  /** See `connectionHeaderContext`. */
  readonly sealed: string;
  readonly last4: string;
  /** As JSON has times. */
  readonly createdAt: string;
}

/** The context bound to a sealed header of a connection. It does not open in another context. `name` is the header's. */
export const connectionHeaderContext = (agentId: string, connection: string, name: string): string =>
  `connection/${agentId}/${connection}/header/${name}`;

/** A secret of a host connection. */
export interface ConnectionSecret {
  /** The variable's name. */
  readonly name: string;
  /** See `connectionSecretContext`. */
  readonly sealed: string;
  readonly last4: string;
  /** Headers in which it is filled in, in lower case. */
  readonly headers: readonly string[];
  /** The variable's value in the machine. */
  readonly placeholder: string;
  /** As JSON has times. */
  readonly createdAt: string;
}

/** The context bound to a sealed secret of a host connection. */
export const connectionSecretContext = (agentId: string, connection: string, name: string): string =>
  `connection/${agentId}/${connection}/secret/${name}`;

export interface ConnectionRow {
  readonly accountId: string;
  readonly agentId: string;
  readonly name: string;
  readonly kind: ConnectionKind;
  /** The URL, without a slash at its end. */
  readonly url: string;
  /** Names in lower case; empty for kinds other than `host`. */
  readonly hosts: readonly string[];
  readonly secrets: readonly ConnectionSecret[];
  /** Empty for `mcp`. */
  readonly allow: readonly ConnectionAllow[];
  /** The server's names of the allowed tools; null allows all. Null for `http`. */
  readonly tools: readonly string[] | null;
  readonly enabled: boolean;
  /** The reason why Lodge disabled it, a sentence of ours; null when Lodge did not. */
  readonly statusReason: string | null;
  readonly headers: readonly ConnectionHeader[];
  /** Null when access is by `headers` or needs none. */
  readonly oauth: ConnectionOAuth | null;
  /** Whether the server asked for OAuth since the connection was put without it. */
  readonly asksOauth: boolean;
  /** Changes with each change, and when a connection is removed and put again. */
  readonly revision: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
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
  echoed(of: ConnectionRef): Promise<void>;
}
