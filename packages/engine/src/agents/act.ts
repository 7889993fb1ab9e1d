import { Refusal, admit } from '@lodge/domain';
import type { AdmissionRefusal, OperationKind, StatusReasonCode, Verb } from '@lodge/domain';
import type { ChangeNote } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import { beginOperation } from './decisions.ts';
import type { AdmitMemory } from './decisions.ts';
import { awaitAgent } from './await-agent.ts';
import { admitMemory, checkDisk, checkDiskForStart, withRoom } from './capacity.ts';
import { checkRunning } from './admission.ts';
import type { AgentsDeps } from './deps.ts';
import { isThere, notFound } from './reading.ts';

/** Ends an admission that finds the agent without memory, until there is room for it. */
class NeedsRoom extends Error {
  readonly agent: AgentRow;
  constructor(agent: AgentRow) {
    super('the agent needs memory');
    this.agent = agent;
  }
}

/**
 * Begins or joins the operation that a verb asks for, or refuses by the contract's table, in one transaction. That of an agent
 * which holds less memory than it will need counts the room for it.
 */
export async function act(
  deps: AgentsDeps,
  accountId: string,
  id: string,
  verb: Verb,
  note?: ChangeNote,
): Promise<{ readonly row: AgentRow; readonly done: boolean }> {
  const disk = await deps.disk.host();
  const begin = (admitted?: AdmitMemory) =>
    beginOperation(
      deps.database,
      id,
      'request',
      ({ row, othersRunning }) => {
        if (row.accountId !== accountId) throw notFound(id);
        const admission = admit(verb, { ...row, isNewest: !canUpgrade(deps, row) });
        if (admission.do === 'begin' && isHere(deps, row)) checkDisk(disk, verb, row);
        if (admission.do === 'begin' && isRunningAfter(admission.kind, row)) checkRunning(deps, othersRunning);
        if (admission.do === 'begin' && !admitted && takesMemory(verb, row)) throw new NeedsRoom(row);
        return admission;
      },
      note,
      admitted,
    );
  const begun = await begin().catch(async (error: unknown) => {
    if (!(error instanceof NeedsRoom)) throw error;
    const { agent } = error;
    // A paused agent counts among those that write already.
    if (isHere(deps, agent) && agent.status !== 'paused') await checkDiskForStart(deps, agent);
    return deps.relief.sparing(id, () => withRoom(deps, async () => begin(await admitMemory(deps))));
  });
  if (begun === null) throw notFound(id);
  const { row, admission } = begun;
  if (admission.do === 'refuse') throw refusal(admission.code, row);
  return { row, done: admission.do === 'nothing' };
}

/** Whether a newer template exists than the one that the agent's disk lies over. */
export function canUpgrade(
  { templates }: Pick<AgentsDeps, 'templates'>,
  { runtimeKind, templateId }: AgentRow,
): boolean {
  const isThere = templates.newest(runtimeKind) !== null;
  return isThere && templateId !== null && !templates.isNewest(runtimeKind, templateId);
}

/** Whether the agent's disk is on this host, or will be. */
const isHere = ({ holder }: AgentsDeps, { host }: AgentRow): boolean => host === null || host === holder;

/** Whether the verb makes one more agent run. */
function isRunningAfter(verb: OperationKind, { status }: AgentRow): boolean {
  return verb !== 'stop' && verb !== 'pause' && status !== 'running' && status !== 'provisioning';
}

/** Whether the agent holds less memory now than it needs for the verb. */
function takesMemory(verb: Verb, { status }: AgentRow): boolean {
  return verb !== 'stop' && verb !== 'pause' && status !== 'running' && status !== 'provisioning';
}

export function refusal(code: AdmissionRefusal, { id, operation }: AgentRow): Refusal {
  return new Refusal(code, refusalMessage(code, operation?.kind), { agentId: id });
}

function refusalMessage(code: AdmissionRefusal, underWay: OperationKind | undefined): string {
  switch (code) {
    case 'agent_transitioning':
      return underWay === undefined
        ? 'The agent is being started. Try again when it runs.'
        : `Another operation of this agent (${underWay}) is under way. Try again when it has ended.`;
    case 'agent_not_running':
      return 'Agent is not running. Start it first.';
    case 'agent_not_resumable':
      return 'The agent is in error and cannot be resumed. Start or restart it.';
  }
}

/** Waits for the end of the operation. Refuses with `internal_error` when a begun verb did not reach its goal. */
export async function awaitVerb(
  deps: AgentsDeps,
  accountId: string,
  id: string,
  { verb, timeoutMs, signal }: { readonly verb: Verb; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<AgentRow> {
  let begunAt: Date | null = null;
  const ended = (row: AgentRow | null): boolean => {
    if (!isThere(row) || row.accountId !== accountId) return true;
    if (row.operation?.kind === verb) begunAt = row.operation.startedAt;
    return isAtRest(row);
  };
  const row = await awaitAgent(deps, id, ended, timeoutMs, signal);
  if (!isThere(row) || row.accountId !== accountId) throw notFound(id);
  if (isAtRest(row)) {
    const failed = failure(verb, row, begunAt) ?? (verb === 'upgrade' && canUpgrade(deps, row) ? notUpgraded : null);
    if (failed !== null) throw new Refusal('internal_error', failed, { agentId: id });
  }
  return row;
}

const notUpgraded = 'The agent was not upgraded.';

export function isAtRest({ operation, status }: AgentRow): boolean {
  return operation === null && status !== 'provisioning';
}

/** Reasons with which a stop leaves an agent as it was. */
const notStopped: ReadonlySet<StatusReasonCode> = new Set(['snapshot_failed', 'host_disk_full']);

/** Says in public words why the agent is not where the verb led. Returns null when it is there, or was there and went on. */
function failure(
  verb: Verb,
  { status, statusReason, startedAt, lastActiveAt }: AgentRow,
  begunAt: Date | null,
): string | null {
  if (status === 'error') return statusReason?.message ?? 'The agent is in error.';
  switch (verb) {
    case 'start':
    case 'resume':
      return status === 'stopped' && statusReason !== null ? statusReason.message : null;
    case 'restart':
      return null;
    case 'upgrade':
      return statusReason?.code === 'upgrade_failed' ? statusReason.message : null;
    case 'pause': {
      // Either a request has woken the agent again meanwhile, or it never slept.
      const woken = begunAt === null || [startedAt, lastActiveAt].some((at) => at !== null && at > begunAt);
      return status === 'running' && !woken ? 'The agent could not be paused. It goes on running.' : null;
    }
    case 'stop':
      return status !== 'stopped' && statusReason && notStopped.has(statusReason.code) ? statusReason.message : null;
  }
}
