import type {
  AgentStatus,
  EgressRules,
  Happening,
  Lifecycle,
  Refusal,
  RuntimeKind,
  SizeName,
  SpendLimit,
  Verb,
} from '@lodge/domain';
import type {
  AgentCount,
  AgentFilter,
  AgentMember,
  AgentRow,
  By,
  ChangeNote,
  ChatEndpoint,
  ChatTurn,
  FailureFacts,
  GuestAddress,
  KeyVerdict,
  LogEntry,
  LogQuery,
  Provider,
  ReportedError,
  VmUsage,
  WebEndpoint,
  WebPage,
} from '@lodge/ports';

import type { CheckedChannel } from '../channels/channels.ts';

/** A create as the API took it: checked against the schema, defaults not yet filled in. */
export interface CreateAgentInput {
  readonly name: string;
  readonly model?: string;
  readonly description?: string | null;
  readonly llmKeys: readonly { readonly provider: string; readonly apiKey: string }[];
  /** Refuse when a provider says that a key does not work. */
  readonly checkKeys?: boolean;
  readonly runtimeKind: RuntimeKind;
  readonly size: SizeName;
  readonly lifecycle: Lifecycle;
  readonly metadata: Readonly<Record<string, string>>;
  /** As `Channels.check` gives them. */
  readonly channels?: readonly CheckedChannel[];
  readonly instructions?: string | null;
  readonly dashboard?: boolean;
  readonly spendLimit?: SpendLimit | null;
  /** As `checkedEgress` gives them; every public address by default. */
  readonly egress?: EgressRules;
  readonly models?: readonly string[] | null;
  readonly peers?: readonly string[];
}

/** A PATCH as the API took it: only what was given is there; a null resets to the default. */
export interface UpdateAgentInput {
  readonly name?: string;
  readonly description?: string | null;
  readonly model?: string | null;
  /** Replaces the key of each provider named; `apiKey: null` removes it. Others stay. Null removes all. */
  readonly llmKeys?: readonly { readonly provider: string; readonly apiKey: string | null }[] | null;
  readonly size?: SizeName;
  readonly lifecycle?: Partial<Lifecycle>;
  readonly metadata?: Readonly<Record<string, string | null>> | null;
  readonly instructions?: string | null;
  readonly dashboard?: boolean;
  readonly spendLimit?: SpendLimit | null;
  /** Replaces them as a whole. */
  readonly egress?: EgressRules;
  readonly models?: readonly string[] | null;
  readonly peers?: readonly string[];
}

export interface CreateOptions {
  /** The agent's id, where that was decided before; a fresh one by default. */
  readonly id?: string;
  readonly note?: ChangeNote;
}

export interface UpdateOptions {
  /** Sees the row under its lock, in the transaction that changes it, and throws to refuse. */
  readonly check?: (row: AgentRow) => void;
  readonly note?: ChangeNote;
}

/** A key of an agent, and what its provider says of it. */
export interface CheckedKey extends KeyVerdict {
  readonly provider: string;
  readonly last4: string;
}

/** The use-cases the API calls. A `note` is written in the transaction of the change, where there is something to change. */
export interface Agents {
  /** Checks model, providers, keys and capacity, writes the agent and returns it in `provisioning`. */
  create(accountId: string, input: CreateAgentInput, options?: CreateOptions): Promise<AgentRow>;
  /**
   * Waits until the agent is no longer `provisioning`, it is deleted (null), or `timeoutMs` passed or `signal` aborted (the row
   * as it is then). With `wanted`: until its status is that or `error` instead.
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
  /** Resolves once nothing of the agent is left; with a `signal` that is aborted, as soon as that is settled. */
  delete(accountId: string, id: string, signal: AbortSignal, note?: ChangeNote): Promise<void>;
  /**
   * Begins what the verb asks for, by the contract's table; one that is under way already is joined. Refuses with
   * `agent_transitioning`, `agent_not_running` or `agent_not_resumable`. `done` when there was nothing to do.
   */
  act(
    accountId: string,
    id: string,
    verb: Verb,
    note?: ChangeNote,
  ): Promise<{ readonly row: AgentRow; readonly done: boolean }>;
  /**
   * Waits until no operation is under way and the agent is not `provisioning`, or `timeoutMs` passed: the row as it is then.
   * Refuses with `internal_error` when `verb` was begun and did not come to its goal (a snapshot that failed, say).
   */
  awaitVerb(accountId: string, id: string, verb: Verb, timeoutMs: number, signal: AbortSignal): Promise<AgentRow>;
  /**
   * Changes the record, and the running machine where that is possible; what is not in effect yet shows as `size` beside `machine`.
   */
  update(accountId: string, id: string, change: UpdateAgentInput, options?: UpdateOptions): Promise<AgentRow>;
  /** Asks the provider of each of the agent's keys whether it works; bounded. */
  checkKeys(accountId: string, id: string): Promise<readonly CheckedKey[]>;
  /**
   * Replaces the agent's members by what `decide` makes of them; it runs under the row's lock, and may throw to refuse. Refuses
   * with `invalid_request` where the runtime holds a single agent, or a model is not one that an agent can have.
   */
  changeMembers(
    accountId: string,
    id: string,
    decide: (members: readonly AgentMember[]) => readonly AgentMember[],
    note?: ChangeNote,
  ): Promise<AgentRow>;
  /** Whether all settings and the egress rules of the row are in effect, in the machine too. */
  inEffect(row: AgentRow): boolean;
  /**
   * Waits until they are, or the agent has no running machine to take them, or `timeoutMs` passed or `signal` aborted: the row
   * as it is then.
   */
  awaitInEffect(accountId: string, id: string, timeoutMs: number, signal: AbortSignal): Promise<AgentRow>;
  /**
   * The agent, running, and held awake until `release`: a paused one is resumed, a stopped one started where `wake` or its
   * lifecycle allow it. Many at once wake it once. Refuses with `agent_not_running`, or `internal_error`.
   */
  use(accountId: string, id: string, options: UseOptions): Promise<LiveAgent>;
  /** Writes what somebody is about to do in the agent's machine. */
  record(accountId: string, id: string, event: Happening, by: By): Promise<void>;
  /** A chat turn of the agent, until `over` aborts: cut where its model calls are refused for good. `asked`: another agent asked for it. */
  turn(id: string, over: AbortSignal, asked?: AskedTurn): Turn;
  /** Holds the agent awake while something of it is under way that did not come through `use` (an LLM call). Never rejects. */
  busy(id: string): () => void;
  logs(accountId: string, query: LogQuery): Promise<readonly LogEntry[]>;
  /** Calls back when the agent's log may have grown. */
  onLog(id: string, listener: () => void): () => void;
  /** What agents take up on this host, for operators; null where no VM or disk is here. */
  usage(id: string): Promise<VmUsage | null>;
  /** What the agent has written to its disk, MiB, as last looked at; null where that is not known here. */
  diskUsedMib(id: string): number | null;
  readonly providers: readonly Provider[];
  /** Port of the guest that the gateway of a kind listens on; null when this deployment does not offer the kind. */
  gatewayPortOf(kind: RuntimeKind): number | null;
  /** The runtime in the agent's guest, or the one it will get; null when this deployment does not offer it. */
  runtimeOf(row: AgentRow): { readonly name: string; readonly version: string } | null;
  /** Whether a newer image is ready than the one the agent was made from. */
  canUpgrade(row: AgentRow): boolean;
}

export interface UseOptions {
  /** A stopped agent is started too. */
  readonly wake: boolean;
  /** It is for a message, which wakes no agent that its spend limit has put to sleep. */
  readonly message?: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Who asked for a turn, where that was an agent: known to the host alone. */
export interface AskedTurn {
  /** Agents that may have led to it, by questions of one another. */
  readonly askers: readonly string[];
  /** How many questions deep it is. */
  readonly depth: number;
  /** Whose spending its model calls are. */
  readonly payerId: string;
  /** A spend limit holds for who pays: no call without a known price is made. */
  readonly limited: boolean;
}

/** A chat under way, as far as its model calls are concerned. */
export interface Turn {
  /** Aborts when the turn is over, or cannot go on: then its reason is a `Refusal`. */
  readonly signal: AbortSignal;
  /** Why the agent's last model call was not made; null when it was. */
  readonly refusal: Refusal | null;
  /** Whether the model has answered a call of the turn. Of several turns at once nobody can tell whose a call was: none counts. */
  readonly hasModelAnswered: boolean;
}

/** A running agent, kept awake by a lease. */
export interface LiveAgent {
  readonly row: AgentRow;
  /** `turn.member` is one of the row's. */
  readonly endpoint: (turn: ChatTurn) => ChatEndpoint;
  /** What an error means that its gateway tells of a turn. */
  readonly turnFailure: (reported: ReportedError) => FailureFacts;
  /** Where the daemon of its guest answers. */
  readonly guest: GuestAddress;
  readonly web: (page: WebPage) => WebEndpoint | null;
  /** Writes the guest's disk out: what the turn has changed survives the VM's death from then on. Bounded, never rejects. */
  readonly flush: () => Promise<void>;
  /** Gives the keep-awake lease back; once. The guest's disk is written out first, where that was not done. */
  readonly release: () => void;
}
