import type { EventData, EventLevel, EventType, Happening, OperationCause, Verb } from '@lodge/domain';
import type { By, EventTarget } from './by.ts';

/** An event about to be written, in the transaction that makes it true. No secret is in it. */
export type NewEvent = Happening & {
  /** Whose it is: only this account reads it. */
  readonly accountId: string;
  /** The agent that it is about; null: none. */
  readonly agentId: string | null;
  /** Null: Lodge did it by itself. */
  readonly by: By | null;
  /** What it was done to, where that is no agent. */
  readonly target?: EventTarget;
};

export interface EventRow {
  /** Rises in the order in which events of one account can be seen: who has read up to one misses none below it. */
  readonly id: bigint;
  readonly accountId: string;
  readonly agentId: string | null;
  /** One of the table, or of an earlier release. */
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
  /** Only these. */
  readonly types: readonly EventType[];
  readonly agentId?: string;
  readonly since?: Date;
  readonly until?: Date;
}

/** Bounds on what is kept of one account's events. */
export interface EventBounds {
  /** Of each: people, API keys, the operator, and what came about by itself. Of the last, one agent has a tenth. */
  readonly maxEvents: number;
  readonly maxAgeMs: number;
}

/** A change of an agent's machine, or its creation, that has come to its end. */
export interface EndedOperation {
  readonly kind: Verb | 'create';
  readonly cause: OperationCause;
  /** Whether the agent is where the operation led. */
  readonly outcome: 'ok' | 'failed';
  readonly seconds: number;
}

/** Events of accounts. Those of a change are written by the store of what changes. */
export interface EventStore {
  /** For what happened to an agent and changes no record; without `by`, by itself. An agent that is gone has no events any more. */
  append(agentId: string, event: Happening, by?: By): Promise<void>;
  page(query: EventQuery): Promise<readonly EventRow[]>;
  /** Calls back with an account's id when it has more events, in any process; null: any may have. */
  onAppend(listener: (accountId: string | null) => void): () => void;
  /** Calls back with each operation whose end this process has written, once its event is committed. */
  onOperationEnded(listener: (operation: EndedOperation) => void): () => void;
  /** Deletes what is over the bounds, oldest first, in steps short enough that no writer waits long. */
  prune(bounds: EventBounds): Promise<void>;
}
