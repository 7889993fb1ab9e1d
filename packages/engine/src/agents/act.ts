import { Refusal, admit } from '@lodge/domain';
import type { AdmissionRefusal, StatusReasonCode, Verb } from '@lodge/domain';
import type { AgentRow, ChangeNote } from '@lodge/ports';
import { awaitAgent } from './await-agent.ts';
import { checkDisk, checkDiskForStart, checkRoom, withRoom } from './capacity.ts';
import { checkRunning } from './create-agent.ts';
import type { AgentsDeps } from './deps.ts';
import { isThere, notFound } from './reading.ts';

/** What an admission that finds the agent without memory stops at, until there is room for it. */
class NeedsRoom extends Error {
  readonly agent: AgentRow;
  constructor(agent: AgentRow) {
    super('the agent needs memory');
    this.agent = agent;
  }
}

/**
 * Begins what a verb asks for, or joins it, or refuses by the contract's table. One transaction; memory and disk that the
 * agent will need are found before.
 */
export async function act(
  deps: AgentsDeps,
  accountId: string,
  id: string,
  verb: Verb,
  note?: ChangeNote,
): Promise<{ readonly row: AgentRow; readonly done: boolean }> {
  const disk = await deps.disk.host();
  const begin = (roomFound: boolean) =>
    deps.store.begin(
      id,
      'request',
      ({ row, othersRunning }) => {
        if (row.accountId !== accountId) throw notFound(id);
        const admission = admit(verb, { ...row, isNewest: !canUpgrade(deps, row) });
        if (admission.do === 'begin' && isHere(deps, row)) checkDisk(disk, verb, row);
        if (admission.do === 'begin' && isRunningAfter(admission.kind, row)) checkRunning(deps, othersRunning);
        if (admission.do === 'begin' && !roomFound && takesMemory(verb, row)) throw new NeedsRoom(row);
        return admission;
      },
      note,
    );
  const begun = await begin(false).catch(async (error: unknown) => {
    if (!(error instanceof NeedsRoom)) throw error;
    const { agent } = error;
    if (isHere(deps, agent)) await checkDiskForStart(deps, agent);
    await withRoom(deps, agent.size, () => checkRoom(deps, agent, agent.size));
    return begin(true);
  });
  if (begun === null) throw notFound(id);
  const { row, admission } = begun;
  if (admission.do === 'refuse') throw refusal(admission.code, row);
  return { row, done: admission.do === 'nothing' };
}

/** Whether there is a newer template than the one the agent's disk lies over. */
export function canUpgrade(
  { templates }: Pick<AgentsDeps, 'templates'>,
  { runtimeKind, templateId }: AgentRow,
): boolean {
  const isThere = templates.newest(runtimeKind) !== null;
  return isThere && templateId !== null && !templates.isNewest(runtimeKind, templateId);
}

/** Whether the agent's disk is, or will be, on this host. */
const isHere = ({ holder }: AgentsDeps, { host }: AgentRow): boolean => host === null || host === holder;

/** Whether this makes one more running agent. */
function isRunningAfter(verb: Verb, { status }: AgentRow): boolean {
  return verb !== 'stop' && verb !== 'pause' && status !== 'running' && status !== 'provisioning';
}

function takesMemory(verb: Verb, { status }: AgentRow): boolean {
  return verb !== 'stop' && verb !== 'pause' && (status === 'stopped' || status === 'error');
}

function refusal(code: AdmissionRefusal, { id, operation }: AgentRow): Refusal {
  return new Refusal(code, refusalMessage(code, operation?.kind), { agentId: id });
}

function refusalMessage(code: AdmissionRefusal, underWay: Verb | undefined): string {
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

/** Waits for the end of what is under way; refuses with `internal_error` when a verb that was begun did not come to its goal. */
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
  const row = await awaitAgent(deps.store, id, ended, timeoutMs, signal);
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

/** Why a stop leaves an agent as it was. */
const notStopped: ReadonlySet<StatusReasonCode> = new Set(['snapshot_failed', 'host_disk_full']);

/** Why the agent is not where the verb led, in public words; null when it is, or was and went on from there. */
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
      // A request that came in between has woken it again; else it never slept.
      const woken = begunAt === null || [startedAt, lastActiveAt].some((at) => at !== null && at > begunAt);
      return status === 'running' && !woken ? 'The agent could not be paused. It goes on running.' : null;
    }
    case 'stop':
      return status !== 'stopped' && statusReason && notStopped.has(statusReason.code) ? statusReason.message : null;
  }
}
