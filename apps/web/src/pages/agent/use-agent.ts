import { useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { Agent } from '@lodge/sdk';
import { agentQuery } from './queries.ts';

/** The agent of this page. Use it only below the agent's frame, whose route has loaded it. */
export function useAgent(): Agent {
  const agentId = useParams({ strict: false, select: ({ agentId }) => agentId ?? '' });
  return useSuspenseQuery(agentQuery(agentId)).data;
}
