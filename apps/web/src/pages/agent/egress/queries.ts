import { queryOptions } from '@tanstack/react-query';
import type { Egress } from '@lodge/sdk';
import { change, list, lodge } from '../../../api.ts';

/** Lines of the log that are looked through. */
export const linesRead = 200;
const refusedEveryMs = 5_000;

/** The newest refusals of the agent's log. No event tells of them, so they are asked for while seen. */
export const refusedQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['agent', agentId, 'logs', 'refused'],
    queryFn: () => list(lodge.agents.logs(agentId, { source: 'egress', search: 'Refused: ', limit: linesRead })),
    refetchInterval: refusedEveryMs,
  });

export const putEgress = (agentId: string, egress: Egress) =>
  change(() => lodge.agents.update(agentId, { egress: egress.mode === 'allowlist' ? egress : { mode: egress.mode } }));
