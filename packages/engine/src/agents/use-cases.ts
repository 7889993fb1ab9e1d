import type { AgentStatus, OperationKind } from '@lodge/domain';
import type { Agents } from './agents.ts';
import type { BrowserShown, ChangeNote } from '@lodge/ports';
import { VmError } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import { beginDelete } from './decisions.ts';
import { appendAgentEvent } from '@lodge/store/events';
import { agentPage, countAgents } from '@lodge/store/agents';
import { logPage } from '@lodge/store/logs';
import { awaitsSkills, packagesDigest, settingsDigest, skillsDigest } from './settings.ts';
import { act, awaitVerb, canUpgrade } from './act.ts';
import { awaitAgent } from './await-agent.ts';
import { checkKeys } from './check-keys.ts';
import { createAgent } from './create-agent.ts';
import type { AgentsDeps } from './deps.ts';
import { changeMembers } from './members.ts';
import { guestOfRow } from './guest-of.ts';
import { imageHasSkills, seeSkills } from './image.ts';
import { getAgent, isThere, notFound } from './reading.ts';
import { updateAgent } from './update-agent.ts';
import { awaitRestored, beginRestore } from '../saved/restore.ts';
import { fork } from '../saved/fork/fork.ts';
import { Uses } from '../turns/use-agent.ts';

/** The use-cases over their ports. */
export function createAgents(deps: AgentsDeps): Agents {
  const uses = new Uses(deps);
  return {
    providers: deps.providers,
    create: (accountId, input, options) => createAgent(deps, accountId, input, options),
    fork: (accountId, id, input, parts) => fork(deps, accountId, id, input, parts),
    get: (accountId, id) => getAgent(deps, accountId, id),
    count: (accountId) => deps.database.repeatable((db) => countAgents(db, accountId)),
    list: (filter) => deps.database.repeatable((db) => agentPage(db, filter)),
    async awaitStatus(accountId, id, timeoutMs, signal, wanted) {
      await getAgent(deps, accountId, id);
      const done = (row: AgentRow | null): boolean => isSettledAt(row, wanted);
      const row = await awaitAgent(deps, id, done, timeoutMs, signal);
      return isThere(row) ? row : null;
    },
    delete: (accountId, id, signal, note) => deleteAgent(deps, { accountId, id }, signal, note),
    act: (accountId, id, verb, note) => act(deps, accountId, id, verb, note),
    awaitVerb: (accountId, id, verb, timeoutMs, signal) => awaitVerb(deps, accountId, id, { verb, timeoutMs, signal }),
    ...restores(deps),
    update: (accountId, id, change, options) => updateAgent(deps, accountId, id, change, options),
    checkKeys: (accountId, id) => checkKeys(deps, accountId, id),
    changeMembers: (accountId, id, decide, note) => changeMembers(deps, accountId, id, decide, note),
    inEffect: (row) => inEffect(deps, row),
    async awaitInEffect(accountId, id, timeoutMs, signal) {
      await getAgent(deps, accountId, id);
      const done = (row: AgentRow | null): boolean => !isThere(row) || !awaitsMachine(deps, row);
      const row = await awaitAgent(deps, id, done, timeoutMs, signal);
      if (!isThere(row)) throw notFound(id);
      return row;
    },
    use: (accountId, id, options) => uses.use(accountId, id, options),
    guestOf: (row) => (isHere(deps, row) ? guestOfRow(deps.driver, row) : null),
    browserDisk: (row) => browserDisk(deps, row),
    record: (accountId, id, event, by) => record(deps, accountId, id, { event, by }),
    turn: (id, over, asked, place) => deps.turns.begin(id, over, asked, place),
    busy: (id) => keepBusy(deps, id),
    async logs(accountId, query) {
      await getAgent(deps, accountId, query.agentId);
      return deps.database.repeatable((db) => logPage(db, query));
    },
    onLog: (id, listener) => onLog(deps, id, listener),
    usage: (id) => deps.driver.usage(id),
    diskUsedMib: (id) => deps.disk.usedMib(id),
    gatewayPortOf: (kind) => deps.runtimes.get(kind)?.gatewayPort ?? null,
    runtimeOf({ runtimeKind, runtimeVersion }) {
      const runtime = deps.runtimes.get(runtimeKind);
      return runtime ? { name: runtime.name, version: runtimeVersion ?? runtime.version } : null;
    },
    canUpgrade: (row) => canUpgrade(deps, row),
    looksForSkills: (row) => imageHasSkills(deps, row),
    seeSkills: async (row, wanted, boundMs) => (isHere(deps, row) ? seeSkills(deps, row, wanted, boundMs) : null),
  };
}

const restores = (deps: AgentsDeps): Pick<Agents, 'restore' | 'awaitRestored'> => ({
  restore: (place, input, parts) => beginRestore(deps, place, input, parts),
  awaitRestored: (place, timeoutMs, signal) => awaitRestored(deps, place, timeoutMs, signal),
});

function keepBusy({ keepAwake }: AgentsDeps, id: string): () => void {
  keepAwake.join(id);
  let released = false;
  return () => {
    if (released) return;
    released = true;
    keepAwake.drop(id);
  };
}

const isHere = ({ holder }: AgentsDeps, { status, host, vmAddress }: AgentRow): boolean =>
  status === 'running' && vmAddress !== null && (host === null || host === holder);

/** The driver shows the disk meanwhile, if it is there. */
async function browserDisk(deps: AgentsDeps, row: AgentRow): Promise<BrowserShown | null> {
  if (!isHere(deps, row) || row.executionId === null) return null;
  return deps.driver.showBrowser(row.id, row.executionId).catch((error: unknown) => {
    if (error instanceof VmError) return null;
    throw error;
  });
}

async function deleteAgent(
  deps: AgentsDeps,
  { accountId, id }: { readonly accountId: string; readonly id: string },
  signal: AbortSignal,
  note: Parameters<Agents['delete']>[3],
): Promise<void> {
  if ((await beginDelete(deps.database, accountId, id, note)) === null) throw notFound(id);
  await awaitAgent(deps, id, (row) => row === null, deps.deleteWaitMs, signal);
}

async function record(deps: AgentsDeps, accountId: string, id: string, { event, by }: ChangeNote): Promise<void> {
  await getAgent(deps, accountId, id);
  await deps.database.transaction((trx) => appendAgentEvent(trx, id, event, by));
}

const onLog = ({ changes }: AgentsDeps, id: string, listener: () => void): (() => void) =>
  changes.on('agent_log_changed', (grown) => {
    if (grown === null || grown === id) listener();
  });

function inEffect(deps: AgentsDeps, row: AgentRow): boolean {
  const haveRoot = row.packagesApplied === packagesDigest(row.packages) && row.skillsApplied === skillsDigest(row);
  return settingsInEffect(deps, row) && egressInEffect(row) && haveRoot;
}

const egressInEffect = ({ egressVersion, egressApplied }: AgentRow): boolean => egressApplied === egressVersion;

function settingsInEffect({ runtimes, settingsOf }: AgentsDeps, row: AgentRow): boolean {
  const runtime = runtimes.get(row.runtimeKind);
  // A runtime that this deployment no longer offers starts no machine.
  return !runtime || row.settingsApplied === settingsDigest(runtime, settingsOf(row));
}

/** Whether a machine exists that will take a pending change shortly. A frozen machine has its network, which takes rules. */
function awaitsMachine(deps: AgentsDeps, row: AgentRow): boolean {
  const { status, operation } = row;
  if ((status === 'running' || status === 'paused') && !egressInEffect(row)) return true;
  return status === 'running' && operation === null && (!settingsInEffect(deps, row) || awaitsSkills(row));
}

/** Whether the agent has the wanted status, or `error`, and nobody has asked for something else. */
function isSettledAt(row: AgentRow | null, wanted: AgentStatus = 'running'): boolean {
  if (!isThere(row)) return true;
  if (row.status === wanted) return row.operation === null || keeps[row.operation.kind] === wanted;
  return row.status === 'error' && row.operation === null;
}

/** Operations that leave an agent in this status while they run. */
const keeps: Readonly<Partial<Record<OperationKind, AgentStatus>>> = {
  start: 'running',
  resume: 'running',
  pause: 'paused',
  stop: 'stopped',
};
