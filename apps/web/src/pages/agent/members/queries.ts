import { queryOptions } from '@tanstack/react-query';
import { list, lodge } from '../../../api.ts';

/** Only runtimes with members have a list of them. */
export const membersQuery = (agentId: string) =>
  queryOptions({ queryKey: ['agent', agentId, 'members'], queryFn: () => list(lodge.members.list(agentId)) });

/** The account's agents, for the names of peers. */
export const peerNamesQuery = queryOptions({
  queryKey: ['agents', 'peers'],
  queryFn: () => list(lodge.agents.list({ limit: 100 })),
});
