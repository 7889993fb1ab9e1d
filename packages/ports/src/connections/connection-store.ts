/** Connections of agents, as their owners put them and as the host uses them. */
import type { ConnectionAllow, ConnectionKind } from '@lodge/domain';
import type { ChangeNote } from '../events/change-note.ts';

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
  readonly headers: readonly ConnectionHeader[];
  /** Another with each change, also of one that was removed and put again. */
  readonly revision: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface ConnectionChange extends Omit<ConnectionRow, 'headers' | 'revision' | 'createdAt' | 'updatedAt'> {
  /** All of them; undefined: those that are stored stay. */
  readonly headers: readonly Omit<ConnectionHeader, 'createdAt'>[] | undefined;
}

export interface ConnectionStore {
  /** By name. */
  ofAgent(accountId: string, agentId: string): Promise<readonly ConnectionRow[]>;
  find(accountId: string, agentId: string, name: string): Promise<ConnectionRow | null>;
  /**
   * Replaces what is there. `too_many`: the agent has `max` others. `headers_needed`: there are stored headers for another
   * URL or kind, and `headers` is undefined; whoever may change a URL must not send a credential where it did not belong.
   */
  put(
    change: ConnectionChange,
    max: number,
    note?: ChangeNote,
  ): Promise<ConnectionRow | 'no_agent' | 'too_many' | 'headers_needed'>;
  /** False: there is none. */
  remove(accountId: string, agentId: string, name: string, note?: ChangeNote): Promise<boolean>;
}

/** What the host looks up for each call: enabled ones of agents that are not being deleted. */
export interface ConnectionDirectory {
  usable(agentId: string): Promise<readonly ConnectionRow[]>;
  usableOne(agentId: string, name: string): Promise<ConnectionRow | null>;
}
