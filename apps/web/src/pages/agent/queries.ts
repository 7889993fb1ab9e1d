import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { lodge, read } from '../../api.ts';
import { useParams } from '@tanstack/react-router';
import type { Agent } from '@lodge/sdk';

export const agentQuery = (id: string) =>
  queryOptions({ queryKey: ['agent', id], queryFn: () => read(lodge.agents.get(id)) });

/** The agent of this page. Use it only below the agent's frame, whose route has loaded it. */
export function useAgent(): Agent {
  const agentId = useParams({ strict: false, select: ({ agentId }) => agentId ?? '' });
  return useSuspenseQuery(agentQuery(agentId)).data;
}
