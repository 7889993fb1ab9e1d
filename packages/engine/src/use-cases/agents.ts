import { Refusal } from '../agents.ts';
import type { Agents } from '../agents.ts';
import type { AgentRow, ChatEndpoint } from '../ports/index.ts';
import { awaitAgent } from './await-agent.ts';
import { createAgent } from './create-agent.ts';
import type { AgentsDeps } from './deps.ts';

/** The use-cases over their ports. */
export function createAgents(deps: AgentsDeps): Agents {
  const lastTouched = new Map<string, number>();
  return {
    providers: deps.providers,
    create: (accountId, input) => createAgent(deps, accountId, input),
    get: (accountId, id) => getAgent(deps, accountId, id),
    list: (filter) => deps.store.list(filter),
    async awaitSettled(accountId, id, timeoutMs, signal) {
      await getAgent(deps, accountId, id);
      const settled = (row: AgentRow | null): boolean => !isThere(row) || row.status !== 'provisioning';
      const row = await awaitAgent(deps.store, id, settled, timeoutMs, signal);
      return isThere(row) ? row : null;
    },
    async delete(accountId, id, signal) {
      if ((await deps.store.markDeleted(accountId, id)) === null) throw notFound(id);
      lastTouched.delete(id);
      await awaitAgent(deps.store, id, (row) => row === null, deps.deleteWaitMs, signal);
    },
    chatEndpoint: (accountId, id) => chatEndpoint(deps, accountId, id),
    touch(id) {
      const now = Date.now();
      if (now - (lastTouched.get(id) ?? 0) < touchEveryMs) return;
      lastTouched.set(id, now);
      deps.store
        .touch(id, new Date(now))
        .catch((error: unknown) => deps.log.warn({ err: error, agent_id: id }, 'last activity not written'));
    },
    runtimeOf(kind) {
      const runtime = deps.runtimes.get(kind);
      return runtime ? { name: runtime.name, version: runtime.version } : null;
    },
  };
}

/** `last_active_at` need not be finer than this; a busy agent must not cost a write per request. */
const touchEveryMs = 1_000;

/** An agent that is being deleted is gone for the API. */
function isThere(row: AgentRow | null): row is AgentRow {
  return row !== null && row.desired !== 'deleted';
}

const notFound = (id: string): Refusal => new Refusal('agent_not_found', `No agent has the id ${id}.`);

async function getAgent(deps: AgentsDeps, accountId: string, id: string): Promise<AgentRow> {
  const row = await deps.store.get(accountId, id);
  if (!isThere(row)) throw notFound(id);
  return row;
}

async function chatEndpoint(deps: AgentsDeps, accountId: string, id: string): Promise<ChatEndpoint> {
  const agent = await getAgent(deps, accountId, id);
  const template = agent.templateId ? await deps.templates.get(agent.templateId) : null;
  if (agent.status !== 'running' || agent.vmAddress === null || template === null) {
    throw new Refusal('agent_not_running', 'Agent is not running. Start it first.', id);
  }
  const runtime = deps.runtimes.get(agent.runtimeKind)!;
  return runtime.chatEndpoint({ address: agent.vmAddress }, template.facts, deps.settingsOf(agent));
}
