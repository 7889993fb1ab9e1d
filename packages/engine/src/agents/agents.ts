import type {
  AgentStatus,
  ForkInclude,
  ForkedKeys,
  Happening,
  Lifecycle,
  Refusal,
  RuntimeKind,
  SizeName,
  Verb,
} from '@lodge/domain';
import type {
  ActorNote,
  AgentMember,
  By,
  ChangeNote,
  ChatEndpoint,
  ChatTurn,
  FailureFacts,
  BrowserShown,
  GuestAddress,
  KeyVerdict,
  LogEntry,
  LogQuery,
  Provider,
  ReadToolStep,
  ReportedError,
  VmUsage,
  WebEndpoint,
  WebPage,
  SkillSight,
  WantedSkills,
} from '@lodge/ports';
import type { SnapshotRow } from '@lodge/store/snapshots';
import type { AgentChange, AgentCount, AgentFilter, AgentRow, NewAgent } from '@lodge/store/agents';
import type { Transaction } from '@lodge/store/database';
import type { CheckedChannel } from '../channels/input.ts';
import type { RestoreInput, RestoreParts, SnapshotPlace } from '../saved/place.ts';

/** A create as the API received it: checked against the schema, without defaults. `egress` is as `checkedEgress` returns it. */
export interface CreateAgentInput extends Omit<
  NewAgent,
  'id' | 'accountId' | 'runtimeKind' | 'size' | 'model' | 'llmKeys' | 'channels'
> {
  /** By default those of the snapshot that it is made from, or else the deployment's. */
  readonly runtimeKind?: RuntimeKind | undefined;
  readonly size?: SizeName | undefined;
  /** Makes its machine from a snapshot of the account; `withBrowser` with the profile of its browser. */
  readonly from?: { readonly snapshot: string; readonly withBrowser?: boolean } | undefined;
  readonly model?: string | undefined;
  readonly llmKeys: readonly { readonly provider: string; readonly apiKey: string }[];
  /** Refuse the create when a provider says that a key does not work. */
  readonly checkKeys?: boolean;
  /** Channels as `Channels.check` returns them. */
  readonly channels?: readonly CheckedChannel[];
}

type Changed = 'model' | 'llmKeys' | 'lifecycle' | 'labels' | 'metadata' | 'members';

/** A PATCH as the API received it: fields that are left out or undefined stay. A null resets a field to its default. */
export interface UpdateAgentInput extends Omit<AgentChange, Changed> {
  readonly model?: string | null | undefined;
  /** Replaces the key of each named provider; `apiKey: null` removes that key. Other keys stay. Null removes all. */
  readonly llmKeys?: readonly { readonly provider: string; readonly apiKey: string | null }[] | null | undefined;
  readonly lifecycle?: Partial<Lifecycle> | undefined;
  /** Pairs to set or, with null, to remove. Null removes all. */
  readonly labels?: Readonly<Record<string, string | null>> | null | undefined;
  readonly metadata?: Readonly<Record<string, string | null>> | null | undefined;
}

export interface ForkInput {
  readonly name?: string | undefined;
  readonly count: number;
  /** A snapshot of the parent; without it the parent is saved as it is. */
  readonly snapshot?: string | undefined;
  readonly include: readonly ForkInclude[];
  readonly llmKeys: ForkedKeys;
  /** Fields that the forks have otherwise than their parent. */
  readonly change: Omit<UpdateAgentInput, 'name' | 'llmKeys'>;
}

export interface ForkParts {
  /** Ids of the forks, as many as are asked for. */
  readonly ids: readonly string[];
  /** Saves the parent, where the input names no snapshot. */
  readonly save: () => Promise<SnapshotRow>;
  readonly note?: ActorNote | undefined;
}

export interface CreateOptions {
  /** The agent's id, where it was decided before; a fresh one by default. */
  readonly id?: string;
  readonly note?: ChangeNote;
  /** Writes what belongs to the agent, in the transaction that makes it; throws to refuse. */
  readonly after?: (trx: Transaction) => Promise<unknown>;
}

export interface UpdateOptions {
  /** Sees the row under its lock, in the transaction that changes it; throws to refuse. */
  readonly check?: (row: AgentRow) => void;
  readonly note?: ChangeNote;
}

/** A key of an agent, and its provider's verdict on it. */
export interface CheckedKey extends KeyVerdict {
  readonly provider: string;
  readonly last4: string;
}

/** The use-cases that the API calls. A `note` is written in the transaction of the change, if something changes. */
export interface Agents {
  /** Checks model, providers, keys and capacity, writes the agent and returns it in `provisioning`. */
  create(accountId: string, input: CreateAgentInput, options?: CreateOptions): Promise<AgentRow>;
  /** Makes forks of an agent and returns them in `provisioning`. All of them are admitted, or none. */
  fork(accountId: string, id: string, input: ForkInput, parts: ForkParts): Promise<readonly AgentRow[]>;
  /**
   * Waits until the agent is no longer `provisioning`, or until its status is `wanted` or `error`. Returns the row as it
   * then is, also when `timeoutMs` passed or `signal` aborted; null when the agent was deleted.
   */
  awaitStatus(
    accountId: string,
    id: string,
    timeoutMs: number,
    signal: AbortSignal,
    wanted?: AgentStatus,
  ): Promise<AgentRow | null>;
  get(accountId: string, id: string): Promise<AgentRow>;
  count(accountId: string): Promise<AgentCount>;
  list(filter: AgentFilter): Promise<{ readonly rows: readonly AgentRow[]; readonly nextCursor: string | null }>;
  /**
   * Deletes the agent. Resolves once nothing of it is left, or, with an aborted `signal`, as soon as the delete is certain.
   */
  delete(accountId: string, id: string, signal: AbortSignal, note?: ChangeNote): Promise<void>;
  /**
   * Begins the operation that the verb asks for, by the contract's table; joins one that is in progress. Refuses with
   * `agent_transitioning`, `agent_not_running` or `agent_not_resumable`. `done` means that there was nothing to do.
   */
  act(
    accountId: string,
    id: string,
    verb: Verb,
    note?: ChangeNote,
  ): Promise<{ readonly row: AgentRow; readonly done: boolean }>;
  /**
   * Waits until no operation is in progress and the agent is not `provisioning`, or until `timeoutMs` passed; returns the
   * row as it then is. Refuses with `internal_error` when `verb` was begun and did not reach its goal (a failed snapshot,
   * say).
   */
  awaitVerb(accountId: string, id: string, verb: Verb, timeoutMs: number, signal: AbortSignal): Promise<AgentRow>;
  /** Begins to go back to a snapshot, as `beginRestore` does. */
  restore(place: SnapshotPlace, input: RestoreInput, parts: RestoreParts): Promise<AgentRow>;
  /** Waits for the end of the restore, as `awaitRestored` does. */
  awaitRestored(place: SnapshotPlace, timeoutMs: number, signal: AbortSignal): Promise<AgentRow>;
  /**
   * Changes the record, and the running machine where that is possible. A size that is not in effect yet shows as `size`
   * beside `machine`.
   */
  update(accountId: string, id: string, change: UpdateAgentInput, options?: UpdateOptions): Promise<AgentRow>;
  /** Asks the provider of each of the agent's keys whether the key works. The work is bounded. */
  checkKeys(accountId: string, id: string): Promise<readonly CheckedKey[]>;
  /**
   * Replaces the agent's members by the result of `decide`, which runs under the row's lock and may throw to refuse. Refuses
   * with `invalid_request` where the runtime holds a single agent, or an agent cannot have one of the models.
   */
  changeMembers(
    accountId: string,
    id: string,
    decide: (members: readonly AgentMember[]) => readonly AgentMember[],
    note?: ChangeNote,
  ): Promise<AgentRow>;
  /** Whether all settings, egress rules, skills and packages of the row are in effect, in the machine too. */
  inEffect(row: AgentRow): boolean;
  /**
   * Waits until the settings are in effect, packages apart, the agent has no running machine to take them, `timeoutMs`
   * passed or `signal` aborted. Returns the row as it then is.
   */
  awaitInEffect(accountId: string, id: string, timeoutMs: number, signal: AbortSignal): Promise<AgentRow>;
  /**
   * Returns the running agent, kept awake until `release`. A paused agent is resumed; a stopped one is started where `wake`
   * or its lifecycle allow it. Many calls at once wake it once. Refuses with `agent_not_running` or `internal_error`.
   */
  use(accountId: string, id: string, options: UseOptions): Promise<LiveAgent>;
  /** Returns the guest of an agent that runs on this host, or null. Nothing keeps the agent awake. */
  guestOf(row: AgentRow): GuestAddress | null;
  /** Says whether the agent's running machine has the browser's disk, which it then sees; null where none runs here. */
  browserDisk(row: AgentRow): Promise<BrowserShown | null>;
  /** Writes an event about an action that somebody begins in the agent's machine. */
  record(accountId: string, id: string, event: Happening, by: By): Promise<void>;
  /**
   * Begins a chat turn of the agent, until `over` aborts. The turn is cut when its model calls are refused for good. `asked`
   * says that another agent asked for it.
   */
  turn(id: string, over: AbortSignal, asked?: AskedTurn, place?: TurnPlace | null): Turn;
  /** Keeps the agent awake during work that did not come through `use` (an LLM call). Never rejects. */
  busy(id: string): () => void;
  logs(accountId: string, query: LogQuery): Promise<readonly LogEntry[]>;
  /** Calls back when the agent's log may have grown. */
  onLog(id: string, listener: () => void): () => void;
  /** The agent's resource usage on this host, for operators; null where no VM or disk is here. */
  usage(id: string): Promise<VmUsage | null>;
  /** MiB that the agent has written to its disk, as last measured; null where this host does not know. */
  diskUsedMib(id: string): number | null;
  readonly providers: readonly Provider[];
  /** Port that the gateway of a kind listens on inside the guest; null when this deployment does not offer the kind. */
  gatewayPortOf(kind: RuntimeKind): number | null;
  /** The runtime in the agent's guest, or the one that it will get; null when this deployment does not offer it. */
  runtimeOf(row: AgentRow): { readonly name: string; readonly version: string } | null;
  /** Whether an image is ready that is newer than the agent's. */
  canUpgrade(row: AgentRow): boolean;
  /** Asks the runtime of a running agent how it sees skills; null where none runs here. `boundMs` is times the host's pace. */
  seeSkills(row: AgentRow, wanted: WantedSkills, boundMs: number): Promise<readonly SkillSight[] | null>;
  /** Whether the agent's machine looks for skills of its owner. One of an older image does not. */
  looksForSkills(row: AgentRow): Promise<boolean>;
}

export interface UseOptions {
  /** Whether a stopped agent is started too. */
  readonly wake: boolean;
  /** Whether the use is for a message, which wakes no agent that its spend limit has put to sleep. */
  readonly message?: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The agents behind a turn that an agent asked for. Only the host knows them. */
export interface AskedTurn {
  /** Agents whose questions to one another may have led to the turn. */
  readonly askers: readonly string[];
  /** Length of the chain of questions. */
  readonly depth: number;
  /** The agent that pays for the turn's model calls. */
  readonly payerId: string;
  /** Whether the payer has a spend limit, so that no call without a known price is made. */
  readonly limited: boolean;
}

/** The conversation of a turn. */
export interface TurnPlace {
  readonly conversation: string;
  /** Null: the agent itself. */
  readonly member: string | null;
}

/** A chat in progress, as far as its model calls are concerned. */
export interface Turn {
  /** Aborts when the turn is over, or with a `Refusal` as its reason when it cannot go on. */
  readonly signal: AbortSignal;
  /** Why the agent's last model call was refused; null when it was made. */
  readonly refusal: Refusal | null;
  /**
   * Whether the model has answered a call of the turn. False with several turns at once, because nobody can know which one
   * made a call.
   */
  readonly hasModelAnswered: boolean;
}

/** A running agent, kept awake by a lease. */
export interface LiveAgent {
  readonly row: AgentRow;
  /** The endpoint for a turn; `turn.member` is one of the row's. */
  readonly endpoint: (turn: ChatTurn) => ChatEndpoint;
  /** The meaning of an error that the agent's gateway reported for a turn. */
  readonly turnFailure: (reported: ReportedError) => FailureFacts;
  /** The meaning of its reports of tools; undefined when it makes none. */
  readonly toolStep?: ReadToolStep | undefined;
  /** The address of the daemon in the agent's guest. */
  readonly guest: GuestAddress;
  readonly web: (page: WebPage) => WebEndpoint | null;
  /** The line that the agent's next turn begins with: whoever takes it has it alone, and returns it if the turn never began. */
  readonly note: { take(): Promise<string | null>; putBack(note: string): Promise<void> };
  /** Writes the guest's disk out, so that the turn's changes survive the VM's death from then on. Bounded; never rejects. */
  readonly flush: () => Promise<void>;
  /** Ends the keep-awake lease, once. Writes the guest's disk out first unless that has been done. */
  readonly release: () => void;
}
