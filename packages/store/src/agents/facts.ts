/** Types of writes of an agent and of the facts that they are decided by. */
import type { AgentStatus, Happening, RuntimeKind, SizeName } from '@lodge/domain';
import type { LlmKeyRow } from '@lodge/ports';
import type { NewChannel } from '../channels/channels.ts';
import type { AgentFields, AgentRow } from './agent-row.ts';

/** Facts of the host alone, which are no event. */
type HostFact =
  | 'statusReason'
  | 'executionId'
  | 'templateId'
  | 'runtimeVersion'
  | 'vmAddress'
  | 'host'
  | 'machine'
  | 'settingsApplied'
  | 'egressApplied'
  | 'packagesApplied'
  | 'packagesError'
  | 'skillsApplied'
  | 'skillsError'
  | 'acknowledged'
  | 'nextFrom'
  | 'nextMemory'
  | 'restoreTo'
  | 'restoreMemory'
  | 'restoreBack'
  | 'turnNote'
  | 'nextImport'
  | 'startedAt'
  | 'pausedAt'
  | 'stoppedAt'
  | 'crashes';

/** Written by Lodge alone. A change of the packages takes the error of the ones before away. */
type Written =
  | Exclude<HostFact, 'packagesError'>
  | 'egressVersion'
  | 'skillsWanted'
  | 'hostAccess'
  | 'forkedFrom'
  | 'turns'
  | 'desired'
  | 'operation'
  | 'generation'
  | 'status'
  | `${string}At`;

/** The fields that the agent's owner may change. A further column is one of them, unless it is listed above. */
export type OwnField = Exclude<keyof AgentFields, Written | 'id' | 'accountId' | 'runtimeKind'>;

type NewKeys = readonly Omit<LlmKeyRow, 'createdAt'>[];

export interface NewAgent
  extends
    Pick<AgentRow, 'id' | 'accountId' | 'name' | 'runtimeKind' | 'model' | 'size' | 'lifecycle' | 'metadata'>,
    Pick<AgentFields, Exclude<OwnField, 'name' | 'model' | 'size' | 'lifecycle' | 'metadata' | 'members'>>,
    /** Fields of an agent that is made from a snapshot. */
    Pick<AgentFields, 'host' | 'nextFrom' | 'nextMemory' | 'forkedFrom' | 'turnNote' | 'templateId' | 'runtimeVersion'>,
    Pick<AgentFields, 'settingsApplied' | 'packagesApplied' | 'skillsApplied' | 'members' | 'hostAccess'>,
    /** The file of an agent that is made from an import. */
    Pick<AgentFields, 'nextImport'> {
  readonly llmKeys: NewKeys;
  /** The channels to create with the agent. */
  readonly channels?: readonly NewChannel[];
}

/** A change by PATCH; only the fields given are written. `llmKeys` and `members` replace the set. */
export interface AgentChange extends Pick<AgentFields, OwnField> {
  readonly llmKeys?: NewKeys | undefined;
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
  /** The time of the pause of an agent that is paused and not about to run; null for every other. */
  readonly asleepSince: Date | null;
}

/** Input of a create's admission, read inside the inserting transaction while every other create waits. */
export interface Committed {
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
export type Observation = Pick<AgentFields, HostFact> &
  (Transition | { readonly status?: never; readonly operation?: never; readonly event?: never });

interface Transition {
  readonly status?: AgentStatus;
  /** Ends the operation in progress. */
  readonly operation?: null;
  /** Written in the same transaction, with its line in the agent's log. */
  readonly event: Happening;
}

/** The facts of one agent that a decision reads under the row's lock. */
export interface AgentFacts {
  readonly row: AgentRow;
  /** Whether any keep-awake lease is in force now. */
  readonly isKeptAwake: boolean;
  /** The time by the database's clock. */
  readonly now: Date;
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
