import { queryOptions } from '@tanstack/react-query';
import type { QueryClient } from '@tanstack/react-query';
import type { Agent } from '@lodge/sdk';
import { hasCode, lodge, read } from '../../api.ts';

/** The agents of the account as far as they are loaded, newest first. */
export interface AgentRows {
  readonly agents: readonly Agent[];
  /** False while further pages are on their way. */
  readonly isWhole: boolean;
}

const pageSize = 100;
/** Not below `agents`: an event reads one row again, and not a thousand. */
const key = ['agent-rows'] as const;
/** Agents that are known to be deleted. A page that was read before must not bring one back. */
const deleted = new Set<string>();
/** When a row was read on its own, by the agent's id: it is newer than a page whose load began before. */
const putAt = new Map<string, number>();

/** All agents. The first load shows each page as it comes; a later one replaces all at once. */
export const allAgents = queryOptions({
  queryKey: key,
  // While nobody looks at the list no event changes it.
  staleTime: 0,
  queryFn: async ({ client, signal }): Promise<AgentRows> => {
    const isFirst = client.getQueryData(key) === undefined;
    const began = performance.now();
    const loaded: Agent[] = [];
    let page = await read(lodge.agents.list({ limit: pageSize }, { signal }));
    for (;;) {
      loaded.push(...page.data);
      const agents = newest(client.getQueryData<AgentRows>(key)?.agents ?? [], loaded, began);
      if (!page.has_more) return { agents, isWhole: true };
      if (isFirst) client.setQueryData<AgentRows>(key, { agents, isWhole: false });
      const next = await read(page.next());
      if (next === null) return { agents, isWhole: true };
      page = next;
    }
  },
});

/** The loaded agents, with the rows that were read on their own meanwhile. */
function newest(present: readonly Agent[], loaded: readonly Agent[], began: number): readonly Agent[] {
  const newer = new Map(present.filter(({ id }) => (putAt.get(id) ?? 0) > began).map((agent) => [agent.id, agent]));
  const known = new Set(loaded.map(({ id }) => id));
  return [
    ...[...newer.values()].filter(({ id }) => !known.has(id)),
    ...loaded.filter(({ id }) => !deleted.has(id)).map((agent) => newer.get(agent.id) ?? agent),
  ];
}

/** Puts a record that was just read into the list, at its place; null: the agent is gone. */
export function putAgentRow(client: QueryClient, id: string, agent: Agent | null): void {
  if (agent === null) deleted.add(id);
  putAt.set(id, performance.now());
  client.setQueryData<AgentRows>(key, (rows) => {
    if (rows === undefined) return undefined;
    const at = rows.agents.findIndex((row) => row.id === id);
    if (agent === null) return at < 0 ? rows : { ...rows, agents: rows.agents.toSpliced(at, 1) };
    if (at >= 0) return { ...rows, agents: rows.agents.with(at, agent) };
    return { ...rows, agents: [agent, ...rows.agents].toSorted((a, b) => compare(b.created_at, a.created_at)) };
  });
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** More changed agents than this at once are read as pages. */
const maxSingle = 20;
const gatherMs = 150;
let changed = new Set<string>();
let timer: ReturnType<typeof setTimeout> | undefined;

/**
 * Reads one agent of the list again, because an event told of it. Events of a moment are gathered: each agent is read once,
 * and many agents are read as pages. Without a loaded list nothing is done.
 */
export function refreshAgentRow(client: QueryClient, id: string): void {
  if (client.getQueryData(key) === undefined) return;
  changed.add(id);
  timer ??= setTimeout(() => {
    const ids = [...changed];
    changed = new Set();
    timer = undefined;
    if (ids.length > maxSingle) void client.invalidateQueries({ queryKey: key });
    else for (const each of ids) void readRow(client, each);
  }, gatherMs);
}

/** Asks for the record again, but not twice at once. */
async function readRow(client: QueryClient, id: string): Promise<void> {
  try {
    putAgentRow(client, id, await read(lodge.agents.get(id)));
  } catch (error) {
    if (hasCode(error, 'agent_not_found')) putAgentRow(client, id, null);
    // Otherwise the row is as old as the list says, and the next event or load brings it.
  }
}

/** The model calls of each agent in this month (UTC), in US dollars by the agent's id. Agents without any are left out. */
export const spendByAgent = queryOptions({
  queryKey: ['usage', 'month', 'by-agent'],
  staleTime: 60_000,
  refetchInterval: 120_000,
  queryFn: async (): Promise<ReadonlyMap<string, string>> => {
    const now = new Date();
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
    const usage = await read(
      lodge.usage.get({ starting_at: month.toISOString(), bucket_width: 'all', group_by: 'agent' }),
    );
    return new Map(usage.data.flatMap(({ group, cost }) => (group === null ? [] : [[group, cost.llm] as const])));
  },
});
