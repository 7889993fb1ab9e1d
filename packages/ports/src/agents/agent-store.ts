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
  /** Who the agent is and how it works, for its runtime. */
  readonly instructions: string | null;
  /** Whether its runtime's own web pages are served; runtime_b alone. */
  readonly dashboard: boolean;
  readonly spendLimit: SpendLimit | null;
  /** What its machine may reach. */
  readonly egress: EgressRules;
  /** Rises with every change of `egress`. */
  readonly egressVersion: number;
  /** Models that it may call beside its own and its members', as `<provider>/<model>`; null: any that its providers have. */
  readonly models: readonly string[] | null;
  /** Ids of agents of the account that it may ask; `*`: all. */
  readonly peers: readonly string[];
  /** Further agents in the same machine, oldest first; runtime_a alone. */
  readonly members: readonly AgentMember[];
  readonly llmKeys: readonly LlmKeyRow[];
  /** Its messaging channels, by name. */
  readonly channels: readonly { readonly channel: ChannelName; readonly status: ChannelStatus }[];
  readonly desired: 'running' | 'deleted';
  /** The change of the machine that is under way: admitted, and not ended yet. */
  readonly operation: Operation | null;
  /** Rises with every operation that begins and with a delete; an effect decided for an older one is void. */
  readonly generation: number;
  readonly status: AgentStatus;
  readonly statusReason: StatusReason | null;
  /** The incarnation of the VM that is wanted or there; null before the first attempt. */
  readonly executionId: string | null;
  /** Template that the agent's disk lies over; null until a VM was made from it. */
  readonly templateId: string | null;
  /** Version of the runtime in its guest; null before a VM was made. */
  readonly runtimeVersion: string | null;
  readonly vmAddress: string | null;
  /** The `holder` whose host has the agent's disk; null until a VM was made. Only that one drives it. */
  readonly host: string | null;
  /** The machine as it is, or was when it last ran; null before it ran first. `size` is the one asked for. */
  readonly machine: Machine | null;
  /** Digest of the settings that are in effect in its guest (`settingsDigest`); null where that is not known: after a boot from its disk, or with an older copy of disk and memory. */
  readonly settingsApplied: string | null;
  /** The `egressVersion` of the rules on its machine's network; of its last machine while it has none. */
  readonly egressApplied: number;
  /** True once the agent was reported running: from then on its disk holds state that must not be lost. */
  readonly acknowledged: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly startedAt: Date | null;
  readonly pausedAt: Date | null;
  readonly stoppedAt: Date | null;
  readonly lastActiveAt: Date | null;
  /** Unexpected deaths of the VM, newest last, within the window that counts. */
  readonly crashes: readonly Date[];
}

export interface AgentMember {
  readonly name: string;
  /** Null: the agent's own. */
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
    Partial<Pick<AgentRow, 'instructions' | 'dashboard' | 'spendLimit' | 'egress' | 'models' | 'peers'>> {
  readonly llmKeys: readonly Omit<LlmKeyRow, 'createdAt'>[];
  /** Written with it. */
  readonly channels?: readonly NewChannel[];
}

/** An agent that is not deleted, by what it takes of its host. */
export interface AgentHolder {
  readonly id: string;
  /** The larger of what was asked for and what its machine has. */
  readonly size: SizeName;
  /** See `AgentRow`. */
  readonly host: string | null;
  /** Whether it holds memory, or will. */
  readonly holdsMemory: boolean;
}

/** What the admission of a create looks at, read inside the transaction that inserts, with every other create held back. */
export interface Committed {
  /** Sizes of all agents that hold or will hold memory on this deployment. */
  readonly sizes: readonly SizeName[];
  /** All agents of this deployment: a stopped one has its disk. */
  readonly holders: readonly AgentHolder[];
  /** Agents of the account, deleted ones aside. */
  readonly accountAgents: number;
  /** Those of them that run, or are on their way to it. */
  readonly accountRunning: number;
}

/** Facts a reconciler found; only the fields given are written. Facts of the host alone are no event; a transition is one. */
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
  /** Ends the operation under way. */
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
    | 'metadata'
  >
> {
  readonly llmKeys?: NewAgent['llmKeys'];
}

/** What a decision about one agent looks at, read under its row's lock. */
export interface DecisionFacts {
  readonly row: AgentRow;
  /** Whether anything holds the agent awake now (`hold`). */
  readonly held: boolean;
  /** By the database's clock. */
  readonly now: Date;
  /** Other agents of the account that run, or are on their way to it; where `cause` is `request`, begun operations of the account wait for one another. */
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
  readonly metadata?: Readonly<Record<string, string>>;
  readonly order: 'asc' | 'desc';
}

export interface AgentCount {
  readonly all: number;
  readonly running: number;
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
  /** One transaction: `admit` sees what is committed and throws to refuse (nothing is written then), else the agent is there, desired `running`, status `provisioning`. Rejects with a `ChannelConflictError`. */
  create(agent: NewAgent, admit: (committed: Committed) => void, note?: ChangeNote): Promise<AgentRow>;
  get(accountId: string, id: string): Promise<AgentRow | null>;
  /** The account's agents, and how many of them run or are on their way to it. */
  count(accountId: string): Promise<AgentCount>;
  /** Sizes of all agents but `except` that hold memory on this deployment, or soon will: the larger of what was asked for and what the machine has. */
  sizesHeld(except: string): Promise<readonly SizeName[]>;
  /** Every agent that is not deleted, as admissions weigh it. */
  holders(): Promise<readonly AgentHolder[]>;
  list(filter: AgentFilter): Promise<{ readonly rows: readonly AgentRow[]; readonly nextCursor: string | null }>;
  /**
   * One transaction under the row's lock: `decide` sees the agent, and when it says `begin` the operation is written with a
   * new generation, with its event. Null when there is no such agent, or it is being deleted.
   */
  begin(
    id: string,
    cause: OperationCause,
    decide: (facts: DecisionFacts) => Admission,
    note?: ChangeNote,
  ): Promise<{ readonly row: AgentRow; readonly admission: Admission } | null>;
  /** One transaction under the row's lock: `decide` sees the agent and names the change, or throws to refuse. What is as it was is no change, and has no event. Null when the account has no such agent. `generation` stays. */
  change(
    accountId: string,
    id: string,
    decide: (row: AgentRow) => AgentChange,
    note?: ChangeNote,
  ): Promise<AgentRow | null>;
  /**
   * Holds the agent awake, for `holder`, until `ttlMs` from now (database clock), and gives the row as it is then. Waits for
   * a decision under way, so that either the decision sees the hold or the row given shows the operation. One hold per
   * agent and holder: holding again prolongs it. Sets `lastActiveAt`. Null when there is no such agent.
   */
  hold(id: string, holder: string, ttlMs: number): Promise<AgentRow | null>;
  /** Prolongs holds and sets `lastActiveAt`, of all these agents, in one statement. */
  prolong(ids: readonly string[], holder: string, ttlMs: number): Promise<void>;
  /** Ends a hold and sets `lastActiveAt`. */
  release(id: string, holder: string): Promise<void>;
  /** Agents of `host` whom idleness wants asleep, by the database's clock: none held, no operation, `running` or `paused` for long enough. Longest idle first, at most `limit`. */
  idle(host: string, limit: number): Promise<readonly { readonly id: string; readonly verb: 'pause' | 'stop' }[]>;
  /** Paused agents of `host` that may be stopped for their memory, least recently active first. `keep_awake: always` is never among them. */
  evictable(host: string, limit: number): Promise<readonly AgentRow[]>;
  /** Sets desired `deleted` and a new generation. Null when the account has no such agent. Repeating it changes nothing. */
  markDeleted(accountId: string, id: string, note?: ChangeNote): Promise<AgentRow | null>;
  touch(id: string, at: Date): Promise<void>;

  // What reconcilers use: across accounts.
  find(id: string): Promise<AgentRow | null>;
  /** Agents of `host`, or of none yet, that have a machine or shall have one or are to lose it: all but those that rest in `stopped` or `error`. */
  present(host: string): Promise<readonly AgentRow[]>;
  /** Those of the ids whose agents are not deleted. */
  existing(ids: readonly string[]): Promise<ReadonlySet<string>>;
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
