import type { AgentStatus, Lifecycle, RuntimeKind, SizeName, StatusReason } from '@lodge/domain';

/** An agent as the store has it: what is wanted (`desired`, `generation`) beside what is so (`status` and what follows it). */
export interface AgentRow {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly description: string | null;
  readonly runtimeKind: RuntimeKind;
  readonly model: string;
  readonly size: SizeName;
  readonly lifecycle: Lifecycle;
  readonly metadata: Readonly<Record<string, string>>;
  readonly llmKeys: readonly LlmKeyRow[];
  readonly desired: 'running' | 'deleted';
  /** Rises with every change of `desired`; an effect decided for an older one is void. */
  readonly generation: number;
  readonly status: AgentStatus;
  readonly statusReason: StatusReason | null;
  /** The incarnation of the VM that is wanted or there; null before the first attempt. */
  readonly executionId: string | null;
  /** Template that the agent's disk lies over; null until a VM was made from it. */
  readonly templateId: string | null;
  readonly vmAddress: string | null;
  /** True once the agent was reported running: from then on its disk holds state that must not be lost. */
  readonly acknowledged: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly startedAt: Date | null;
  readonly lastActiveAt: Date | null;
  /** Unexpected deaths of the VM, newest last, within the window that counts. */
  readonly crashes: readonly Date[];
}

export interface LlmKeyRow {
  readonly provider: string;
  /** See `llmKeyContext` and `SecretBox`. */
  readonly sealed: string;
  readonly last4: string;
  readonly createdAt: Date;
}

export interface NewAgent {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly description: string | null;
  readonly runtimeKind: RuntimeKind;
  readonly model: string;
  readonly size: SizeName;
  readonly lifecycle: Lifecycle;
  readonly metadata: Readonly<Record<string, string>>;
  readonly llmKeys: readonly Omit<LlmKeyRow, 'createdAt'>[];
}

/** What the admission of a create looks at, read inside the transaction that inserts, with every other create held back. */
export interface Committed {
  /** Sizes of all agents that hold or will hold memory on this deployment. */
  readonly sizes: readonly SizeName[];
  /** Agents of the account, deleted ones aside. */
  readonly accountAgents: number;
}

/** Facts a reconciler found; only the fields given are written. */
export interface Observation {
  readonly status?: AgentStatus;
  readonly statusReason?: StatusReason | null;
  readonly executionId?: string | null;
  readonly templateId?: string;
  readonly vmAddress?: string | null;
  readonly acknowledged?: true;
  readonly startedAt?: Date;
  readonly crashes?: readonly Date[];
}

export interface AgentFilter {
  readonly accountId: string;
  readonly limit: number;
  /** Position after which the page begins; the store's own encoding. */
  readonly cursor?: string;
  readonly status?: AgentStatus;
  readonly runtimeKind?: RuntimeKind;
  readonly name?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly order: 'asc' | 'desc';
}

/** A cursor that this store did not make. */
export class InvalidCursorError extends Error {
  constructor() {
    super('cursor is not one this service gave');
    this.name = 'InvalidCursorError';
  }
}

/** Agents in Postgres. Deleted agents (`deletedAt` set) are invisible to every method. */
export interface AgentStore {
  /** One transaction: `admit` sees what is committed and throws to refuse (nothing is written then), else the agent is there, desired `running`, status `provisioning`. */
  create(agent: NewAgent, admit: (committed: Committed) => void): Promise<AgentRow>;
  get(accountId: string, id: string): Promise<AgentRow | null>;
  list(filter: AgentFilter): Promise<{ readonly rows: readonly AgentRow[]; readonly nextCursor: string | null }>;
  /** Sets desired `deleted` and a new generation. Null when the account has no such agent. Repeating it changes nothing. */
  markDeleted(accountId: string, id: string): Promise<AgentRow | null>;
  touch(id: string, at: Date): Promise<void>;

  // What reconcilers use: across accounts.
  find(id: string): Promise<AgentRow | null>;
  /** Agents whose VM may not be as wanted: desired deleted, or status provisioning. */
  unsettled(): Promise<readonly AgentRow[]>;
  /** Every agent that is not deleted. */
  all(): Promise<readonly AgentRow[]>;
  /** Takes the right to change this agent's VM, for `holder`, until `ttlMs` from now (database clock). False when another holder has it. Renewing one's own is true. */
  lease(id: string, holder: string, ttlMs: number): Promise<boolean>;
  releaseLease(id: string, holder: string): Promise<void>;
  /** Writes facts if `generation` is still the agent's and `holder` has the lease. False when it is not: the caller's decision is void. */
  observe(id: string, generation: number, holder: string, facts: Observation): Promise<boolean>;
  /** Removes secrets and hides the agent: nothing of its VM is left on any host. */
  finishDelete(id: string, holder: string): Promise<void>;
  /** Calls back with an agent's id whenever its row changed, in any process. May call with null: anything may have changed (the connection was lost and is back). */
  onChange(listener: (agentId: string | null) => void): () => void;
}
