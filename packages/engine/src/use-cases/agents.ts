import type { Agents } from '../agents.ts';
import type { AgentRow } from '../ports/index.ts';
import { act, awaitVerb } from './act.ts';
import { awaitAgent } from './await-agent.ts';
import { createAgent } from './create-agent.ts';
import type { AgentsDeps } from './deps.ts';
import { getAgent, isThere, notFound } from './reading.ts';
import { updateAgent } from './update-agent.ts';
import { Uses } from './use.ts';

/** The use-cases over their ports. */
export function createAgents(deps: AgentsDeps): Agents {
  const uses = new Uses(deps);
  return {
    providers: deps.providers,
    create: (accountId, input) => createAgent(deps, accountId, input),
    get: (accountId, id) => getAgent(deps, accountId, id),
    list: (filter) => deps.store.list(filter),
    async awaitSettled(accountId, id, timeoutMs, signal) {
      await getAgent(deps, accountId, id);
      const row = await awaitAgent(deps.store, id, isSettled, timeoutMs, signal);
      return isThere(row) ? row : null;
    },
    async delete(accountId, id, signal) {
      if ((await deps.store.markDeleted(accountId, id)) === null) throw notFound(id);
      await awaitAgent(deps.store, id, (row) => row === null, deps.deleteWaitMs, signal);
    },
    act: (accountId, id, verb) => act(deps, accountId, id, verb),
    awaitVerb: (accountId, id, verb, timeoutMs, signal) => awaitVerb(deps, accountId, id, { verb, timeoutMs, signal }),
    update: (accountId, id, change) => updateAgent(deps, accountId, id, change),
    use: (accountId, id, options) => uses.use(accountId, id, options),
    busy(id) {
      deps.holds.join(id);
      let released = false;
      return () => {
        if (released) return;
        released = true;
        deps.holds.drop(id);
      };
    },
    async logs(accountId, query) {
      await getAgent(deps, accountId, query.agentId);
      return deps.logs.page(query);
    },
    onLog: (id, listener) =>
      deps.logs.onAppend((grown) => {
        if (grown === null || grown === id) listener();
      }),
    usage: (id) => deps.driver.usage(id),
    runtimeOf(kind) {
      const runtime = deps.runtimes.get(kind);
      return runtime ? { name: runtime.name, version: runtime.version } : null;
    },
  };
}

/** Runs; or is in error, and nobody has asked for it again. */
function isSettled(row: AgentRow | null): boolean {
  if (!isThere(row)) return true;
  if (row.status === 'running') return row.operation?.kind !== 'restart';
  return row.status === 'error' && row.operation === null;
}
