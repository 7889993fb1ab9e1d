import type { EventData, EventLevel, EventType, Happening, OperationCause, OperationKind } from '@lodge/domain';
import type { AuditEvent, AuditQuery } from './audit.ts';
import type { By, EventTarget } from './by.ts';

/** An event about to be written, in the transaction that makes it true. It contains no secret. */
export type NewEvent = Happening & {
  /** The account that alone reads the event. */
  readonly accountId: string;
  /** The agent that it is about, or null. */
  readonly agentId: string | null;
  /** Null when Lodge acted by itself. */
  readonly by: By | null;
  /** The object of the action, when it is no agent. */
  readonly target?: EventTarget;
};

export interface EventRow {
  /**
   * Rises in the order in which events of one account become visible. A reader who has read up to one id misses none below
   * it.
   */
  readonly id: bigint;
  readonly accountId: string;
  readonly agentId: string | null;
  /** A type of the table, or of an earlier release. */
  readonly type: string;
  readonly level: EventLevel;
  readonly data: EventData;
  readonly by: By | null;
  readonly target: EventTarget | null;
  readonly at: Date;
}

export interface EventQuery {
  readonly accountId: string;
  readonly limit: number;
  /** Events after this id (`asc`) or before it (`desc`). */
  readonly from?: bigint;
  readonly direction: 'asc' | 'desc';
  /** The types to return. */
  readonly types: readonly EventType[];
  readonly agentId?: string;
  readonly since?: Date;
  readonly until?: Date;
}

/** Bounds on what is kept of one account's events. */
export interface EventBounds {
  /**
   * Most events of each group: people, API keys, the operator, and Lodge itself. Within the last group one agent has a
   * tenth.
   */
  readonly maxEvents: number;
  readonly maxAgeMs: number;
}

/** An ended change of an agent's machine, or its ended creation. */
export interface EndedOperation {
  readonly kind: OperationKind | 'create';
  readonly cause: OperationCause;
  /** Whether the agent reached the operation's goal. */
  readonly outcome: 'ok' | 'failed';
  readonly seconds: number;
}

/** Events of accounts, for those who only read them. */
export interface EventStore {
  page(query: EventQuery): Promise<readonly EventRow[]>;
  /** Returns a page of the audit log: the events that somebody caused. */
  audit(query: AuditQuery): Promise<readonly AuditEvent[]>;
  /** Calls back with an account's id when any process appended events; null means that any account may have more. */
  onAppend(listener: (accountId: string | null) => void): () => void;
}
