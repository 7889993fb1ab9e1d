import { queryOptions } from '@tanstack/react-query';
import type { Connection, PutConnection } from '@lodge/sdk';
import { change, list, lodge } from '../../../api.ts';

export const connectionsQuery = (agentId: string) =>
  queryOptions({ queryKey: ['agent', agentId, 'connections'], queryFn: () => list(lodge.connections.list(agentId)) });

const callsEveryMs = 10_000;

/** The newest lines of the agent's log about a connection. No event tells of them, so they are asked for while seen. */
export const connectionCallsQuery = (agentId: string, name: string) =>
  queryOptions({
    queryKey: ['agent', agentId, 'logs', 'connection', name],
    queryFn: () => list(lodge.agents.logs(agentId, { source: 'egress', search: `Connection ${name}:`, limit: 20 })),
    refetchInterval: callsEveryMs,
  });

export const connectionChanges = (agentId: string) => ({
  put: (name: string, body: PutConnection) => change(() => lodge.connections.put(agentId, name, body)),
  remove: (name: string) => change(() => lodge.connections.delete(agentId, name)),
  startOAuth: (name: string) =>
    change(() => lodge.connections.startOAuth(agentId, name, { redirect_url: location.href })),
});

/** A connection as its PUT repeats it; stored credentials stay where they are left out. */
export const keptOf = ({ kind, url, hosts, allow, tools, enabled }: Connection): PutConnection => ({
  kind,
  enabled,
  ...(kind === 'host' ? { hosts } : { url }),
  ...(kind === 'mcp' ? { tools } : { allow }),
});
