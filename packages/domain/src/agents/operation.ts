import type { AgentStatus } from './agent.ts';

/** The operations that a client can request for an agent's machine. */
export const verbs = ['start', 'resume', 'pause', 'stop', 'restart', 'upgrade'] as const;
export type Verb = (typeof verbs)[number];

/** The operations of an agent's machine: those of the verbs, and a save and a restore, which have routes of their own. */
export const operationKinds = [...verbs, 'snapshot', 'restore'] as const;
export type OperationKind = (typeof operationKinds)[number];

/** The causes of an operation. */
export const operationCauses = ['request', 'idle', 'memory', 'message', 'health', 'limit', 'disk', 'plan'] as const;
export type OperationCause = (typeof operationCauses)[number];

/** The one change of an agent's machine in progress. It is in the agent's row from its admission to its end. */
export interface Operation {
  readonly kind: OperationKind;
  readonly cause: OperationCause;
  readonly startedAt: Date;
}

/** The facts that admission depends on, read in the transaction that writes the decision. */
export interface AdmissionFacts {
  readonly status: AgentStatus;
  readonly operation: Operation | null;
  /** Whether its VM was made from the newest template, so an upgrade would change nothing. */
  readonly isNewest?: boolean;
}

export type AdmissionRefusal = 'agent_transitioning' | 'agent_not_running' | 'agent_not_resumable';

/**
 * The decision about a verb.
 *
 * - `nothing`: the agent already is at the verb's goal.
 * - `join`: the same operation is in progress; the caller waits for it.
 */
export type Admission =
  | { readonly do: 'begin'; readonly kind: OperationKind }
  | { readonly do: 'join' }
  | { readonly do: 'nothing' }
  | { readonly do: 'refuse'; readonly code: AdmissionRefusal };

type Rule = 'begin' | 'nothing' | AdmissionRefusal;

/** The lifecycle table of the contract. */
const table: Readonly<Record<Verb, Readonly<Record<AgentStatus, Rule>>>> = {
  start: { running: 'nothing', paused: 'begin', stopped: 'begin', provisioning: 'agent_transitioning', error: 'begin' },
  resume: {
    running: 'nothing',
    paused: 'begin',
    stopped: 'begin',
    provisioning: 'agent_transitioning',
    error: 'agent_not_resumable',
  },
  pause: {
    running: 'begin',
    paused: 'nothing',
    stopped: 'agent_not_running',
    provisioning: 'agent_transitioning',
    error: 'agent_not_running',
  },
  stop: { running: 'begin', paused: 'begin', stopped: 'nothing', provisioning: 'agent_transitioning', error: 'begin' },
  restart: {
    running: 'begin',
    paused: 'begin',
    stopped: 'agent_not_running',
    provisioning: 'agent_transitioning',
    error: 'begin',
  },
  upgrade: {
    running: 'begin',
    paused: 'begin',
    stopped: 'agent_not_running',
    provisioning: 'agent_transitioning',
    error: 'agent_not_running',
  },
};

/** The goal of each operation, and of a create. */
export const operationGoals: Readonly<Record<Verb | 'create', AgentStatus>> = {
  create: 'running',
  start: 'running',
  resume: 'running',
  restart: 'running',
  upgrade: 'running',
  pause: 'paused',
  stop: 'stopped',
};

/** Goals for joining: a start and a resume in progress are joined by either verb. */
const goalOf: Readonly<Record<OperationKind, string>> = {
  start: 'running',
  resume: 'running',
  pause: 'paused',
  stop: 'stopped',
  restart: 'restarted',
  upgrade: 'upgraded',
  snapshot: 'saved',
  restore: 'restored',
};

/** Decides about a verb. Pure: the same facts give the same admission. A delete is always admitted and not decided here. */
export function admit(verb: Verb, { status, operation, isNewest = false }: AdmissionFacts): Admission {
  if (operation !== null) {
    return goalOf[operation.kind] === goalOf[verb] ? { do: 'join' } : { do: 'refuse', code: 'agent_transitioning' };
  }
  if (verb === 'upgrade' && isNewest && status !== 'provisioning') return { do: 'nothing' };
  const rule = table[verb][status];
  if (rule === 'begin') return { do: 'begin', kind: verb };
  return rule === 'nothing' ? { do: 'nothing' } : { do: 'refuse', code: rule };
}

/**
 * Decides about a save of the agent's machine. It can be saved while it runs, is paused or is stopped, and without its memory
 * also in `error`, where only its disk is left.
 */
export function admitSave({ status, operation }: AdmissionFacts, memory: boolean): Admission {
  if (operation !== null || status === 'provisioning') return { do: 'refuse', code: 'agent_transitioning' };
  if (status === 'error' && memory) return { do: 'refuse', code: 'agent_not_running' };
  return { do: 'begin', kind: 'snapshot' };
}

/** Decides about a restore: the machine goes back to a snapshot, whatever is left of the present one. */
export function admitRestore({ status, operation }: AdmissionFacts): Admission {
  if (operation !== null || status === 'provisioning') return { do: 'refuse', code: 'agent_transitioning' };
  return { do: 'begin', kind: 'restore' };
}
