import type {
  Admission,
  AgentStatus,
  ChannelName,
  ChannelStatus,
  EgressRules,
  Happening,
  Lifecycle,
  Operation,
  OperationCause,
  RuntimeKind,
  SizeName,
  SpendLimit,
  StatusReason,
} from '@lodge/domain';
import type { ChangeNote } from '../events/change-note.ts';
import type { NewChannel } from '../channels/channel-store.ts';
import type { Machine } from '../vm/vm-driver.ts';

/**
 * An agent as the store has it: the wanted state (`desired`, `generation`) beside the observed state (`status` and the
 * fields after it).
 */
export interface AgentRow {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly description: string | null;
  readonly runtimeKind: RuntimeKind;
  readonly model: string;
  readonly size: SizeName;
  readonly lifecycle: Lifecycle;
  /** Pairs that lists select by. */
  readonly labels: Readonly<Record<string, string>>;
  /** The owner's own notes. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Text for its runtime: the agent's identity and way of working. */
  readonly instructions: string | null;
  /** Whether the runtime's own web pages are served. */
  readonly dashboard: boolean;
  readonly spendLimit: SpendLimit | null;
  /** The hosts that its machine may reach. */
  readonly egress: EgressRules;
  /** Rises with every change of `egress`. */
  readonly egressVersion: number;
  /**
   * Models that it may call beside its own and its members', as `<provider>/<model>`. Null allows every model of its
   * providers.
   */
  readonly models: readonly string[] | null;
  /** Ids of agents of the account that it may ask; `*` means all. */
  readonly peers: readonly string[];
  /** Further agents in the same machine, oldest first. */
  readonly members: readonly AgentMember[];
  readonly llmKeys: readonly LlmKeyRow[];
  /** Its messaging channels, by name. */
  readonly channels: readonly { readonly channel: ChannelName; readonly status: ChannelStatus }[];
  readonly desired: 'running' | 'deleted';
  /** The change of the machine in progress: admitted and not ended yet. */
  readonly operation: Operation | null;
  /** Rises with every operation that begins and with a delete. An effect decided for an older generation is void. */
  readonly generation: number;
  readonly status: AgentStatus;
  readonly statusReason: StatusReason | null;
  /** The incarnation of the VM that is wanted or present; null before the first attempt. */
  readonly executionId: string | null;
  /** The template under the agent's disk; null until a VM was made from it. */
  readonly templateId: string | null;
  /** Version of the runtime in its guest; null before a VM was made. */
  readonly runtimeVersion: string | null;
  readonly vmAddress: string | null;
  /** The `holder` whose host has the agent's disk, and who alone drives it; null until a VM was made. */
  readonly host: string | null;
  /** The machine as it is, or was when it last ran; null before its first run. `size` is the requested size. */
  readonly machine: Machine | null;
  /**
   * Digest of the settings in effect in its guest (`settingsDigest`). Null when unknown: after a boot from its disk, or with
   * an older copy of disk and memory.
   */
  readonly settingsApplied: string | null;
  /** The `egressVersion` of the rules on its machine's network, or on its last machine's. */
  readonly egressApplied: number;
  /** True once the agent was reported running. From then on its disk holds state that must not be lost. */
  readonly acknowledged: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly startedAt: Date | null;
  readonly pausedAt: Date | null;
  readonly stoppedAt: Date | null;
  readonly lastActiveAt: Date | null;
  /** Unexpected deaths of the VM within the counted window, newest last. */
  readonly crashes: readonly Date[];
}

export interface AgentMember {
  readonly name: string;
  /** The member's model; null for the agent's own. */
  readonly model: string | null;
  readonly instructions: string | null;
  readonly createdAt: Date;
}

export interface LlmKeyRow {
  readonly provider: string;
  /** See `llmKeyContext` and `SecretBox`. */
  readonly sealed: string;
  readonly last4: string;
  readonly createdAt: Date;
}

export interface NewAgent
  extends
    Pick<
      AgentRow,
      'id' | 'accountId' | 'name' | 'description' | 'runtimeKind' | 'model' | 'size' | 'lifecycle' | 'metadata'
    >,
    Partial<Pick<AgentRow, 'labels' | 'instructions' | 'dashboard' | 'spendLimit' | 'egress' | 'models' | 'peers'>> {
  readonly llmKeys: readonly Omit<LlmKeyRow, 'createdAt'>[];
  /** The channels to create with the agent. */
  readonly channels?: readonly NewChannel[];
}

/** An agent that is not deleted, with its use of the host. */
export interface AgentHolder {
  readonly id: string;
  /** The larger of the requested size and the machine's size. */
  readonly size: SizeName;
  /** As `AgentRow.host`. */
  readonly host: string | null;
  /** Whether it holds memory, or will. */
  readonly holdsMemory: boolean;
}

/** Input of a create's admission, read inside the inserting transaction while every other create waits. */
export interface Committed {
  /** Sizes of all agents that hold or will hold memory on this deployment. */
  readonly sizes: readonly SizeName[];
  /** All agents of this deployment, because a stopped one has its disk. */
  readonly holders: readonly AgentHolder[];
  /** Agents of the account, without deleted ones. */
  readonly accountAgents: number;
  /** Agents of the account that run or are about to run. */
  readonly accountRunning: number;
}

/**
 * Facts that a reconciler found; only the given fields are written. Facts of the host alone are no event; a transition is
 * one.
 */
export type Observation = HostFacts &
  (Transition | { readonly status?: never; readonly operation?: never; readonly event?: never });

interface HostFacts {
  readonly statusReason?: StatusReason | null;
  readonly executionId?: string | null;
  readonly templateId?: string;
  readonly runtimeVersion?: string;
  readonly vmAddress?: string | null;
  readonly host?: string;
  readonly machine?: Machine;
  readonly settingsApplied?: string | null;
  readonly egressApplied?: number;
  readonly acknowledged?: true;
  readonly startedAt?: Date;
  readonly pausedAt?: Date | null;
  readonly stoppedAt?: Date | null;
  readonly crashes?: readonly Date[];
}

interface Transition {
  readonly status?: AgentStatus;
  /** Ends the operation in progress. */
  readonly operation?: null;
  /** Written in the same transaction, with its line in the agent's log. */
  readonly event: Happening;
}

/** A change by PATCH; only the fields given are written. `llmKeys` and `members` replace the set. */
export interface AgentChange extends Partial<
  Pick<
    AgentRow,
    | 'name'
    | 'description'
    | 'model'
    | 'size'
    | 'instructions'
    | 'dashboard'
    | 'spendLimit'
    | 'egress'
    | 'models'
    | 'peers'
    | 'members'
    | 'lifecycle'
    | 'labels'
    | 'metadata'
  >
> {
  readonly llmKeys?: NewAgent['llmKeys'];
}

/** The facts that a decision about one agent reads under the row's lock. */
export interface DecisionFacts {
  readonly row: AgentRow;
  /** Whether any keep-awake lease is in force now. */
  readonly isKeptAwake: boolean;
  /** The time by the database's clock. */
  readonly now: Date;
  /**
   * Other agents of the account that run or are about to run. When `cause` is `request`, begun operations of the account
   * wait for each other.
   */
  readonly othersRunning: number;
}

export interface AgentFilter {
  readonly accountId: string;
  readonly limit: number;
  /** Position after which the page begins; the store's own encoding. */
  readonly cursor?: string;
  readonly status?: AgentStatus;
  readonly runtimeKind?: RuntimeKind;
  readonly name?: string;
  /** Only agents that have all of these labels. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Only agents that have a label of this key. */
  readonly hasLabel?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly order: 'asc' | 'desc';
}

export interface AgentCount {
  readonly all: number;
  readonly running: number;
}

/** Thrown for a cursor that this store did not make. */
export class InvalidCursorError extends Error {
  constructor() {
    super('cursor is not one this service gave');
    this.name = 'InvalidCursorError';
  }
}

/** Agents in Postgres. Deleted agents (`deletedAt` set) are invisible to every method. */
export interface AgentStore {
  /**
   * Creates an agent in one transaction. `admit` sees the committed agents and throws to refuse; then nothing is written.
   * The new agent has desired `running` and status `provisioning`. Rejects with a `ChannelConflictError`.
   */
  create(agent: NewAgent, admit: (committed: Committed) => void, note?: ChangeNote): Promise<AgentRow>;
  get(accountId: string, id: string): Promise<AgentRow | null>;
  /** Counts the account's agents, and those that run or are about to run. */
  count(accountId: string): Promise<AgentCount>;
  /**
   * Returns the sizes of all agents but `except` that hold memory on this deployment or soon will. Each is the larger of the
   * requested size and the machine's size.
   */
  sizesHeld(except: string): Promise<readonly SizeName[]>;
  /** Returns every agent that is not deleted, as admissions weigh it. */
  holders(): Promise<readonly AgentHolder[]>;
  list(filter: AgentFilter): Promise<{ readonly rows: readonly AgentRow[]; readonly nextCursor: string | null }>;
  /**
   * Decides in one transaction under the row's lock. When `decide` answers `begin`, the operation is written with a new
   * generation and its event. Returns null when there is no such agent, or it is being deleted.
   */
  begin(
    id: string,
    cause: OperationCause,
    decide: (facts: DecisionFacts) => Admission,
    note?: ChangeNote,
  ): Promise<{ readonly row: AgentRow; readonly admission: Admission } | null>;
  /**
   * Changes an agent in one transaction under the row's lock. `decide` sees the agent and names the change, or throws to
   * refuse. Equal values are no change and have no event. `generation` stays. Returns null when the account has no such
   * agent.
   */
  change(
    accountId: string,
    id: string,
    decide: (row: AgentRow) => AgentChange,
    note?: ChangeNote,
  ): Promise<AgentRow | null>;
  /**
   * Takes a keep-awake lease for `holder` until `ttlMs` from now by the database's clock, and returns the row as it is then.
   * Waits for a decision in progress, so either the decision sees the lease, or the returned row shows the operation. There
   * is one lease per agent and holder, and taking it again prolongs it. Sets `lastActiveAt`. Null when there is no such agent.
   */
  takeKeepAwake(id: string, holder: string, ttlMs: number): Promise<AgentRow | null>;
  /** Prolongs the leases of all these agents and sets `lastActiveAt`, in one statement. */
  prolongKeepAwake(ids: readonly string[], holder: string, ttlMs: number): Promise<void>;
  /** Ends a lease and sets `lastActiveAt`. */
  endKeepAwake(id: string, holder: string): Promise<void>;
  /**
   * Returns agents of `host` whose idleness calls for a pause or stop, by the database's clock. They have no keep-awake
   * lease and no operation, and have been `running` or `paused` long enough. The longest idle come first, at most `limit`.
   */
  idle(host: string, limit: number): Promise<readonly { readonly id: string; readonly verb: 'pause' | 'stop' }[]>;
  /**
   * Returns paused agents of `host` that may be stopped for their memory, least recently active first. `keep_awake: always`
   * is never among them.
   */
  evictable(host: string, limit: number): Promise<readonly AgentRow[]>;
  /** Sets desired `deleted` and a new generation. Null when the account has no such agent. Repeating it changes nothing. */
  markDeleted(accountId: string, id: string, note?: ChangeNote): Promise<AgentRow | null>;
  touch(id: string, at: Date): Promise<void>;

  // Methods for reconcilers, across accounts.
  find(id: string): Promise<AgentRow | null>;
  /**
   * Returns agents of `host`, or of no host yet, that have a machine, need one or must lose one. Agents that rest in
   * `stopped` or `error` are left out.
   */
  present(host: string): Promise<readonly AgentRow[]>;
  /** Returns the ids among these whose agents are not deleted. */
  existing(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Returns every agent that is not deleted. */
  all(): Promise<readonly AgentRow[]>;
  /**
   * Takes the right to change this agent's VM for `holder`, until `ttlMs` from now by the database's clock. False when
   * another holder has it. Renewing one's own succeeds.
   */
  lease(id: string, holder: string, ttlMs: number): Promise<boolean>;
  releaseLease(id: string, holder: string): Promise<void>;
  /**
   * Writes facts if `generation` is still the agent's and `holder` has the lease. False means that the caller's decision is
   * void.
   */
  observe(id: string, generation: number, holder: string, facts: Observation): Promise<boolean>;
  /** Removes secrets and hides the agent, once nothing of its VM is left on any host. */
  finishDelete(id: string, holder: string): Promise<void>;
  /**
   * Calls back with an agent's id whenever any process changed its row. Null means that anything may have changed, because
   * the connection was lost and is back.
   */
  onChange(listener: (agentId: string | null) => void): () => void;
}
