import type { LiveAgent } from '@lodge/engine';
import type { AgentPortRow, WebEndpoint } from '@lodge/engine/ports';
import type { HttpContext } from '../context.ts';
import { ApiError } from '../errors.ts';
import { dashboardPort } from './address.ts';
import type { AgentAddress } from './address.ts';

/** Whether a port is the dashboard's, which is served while that is on and is never published as a port. */
export const isDashboard = ({ kind, port }: Pick<AgentAddress, 'kind' | 'port'>): boolean =>
  kind === 'runtime_b' && port === dashboardPort;

/** Before an agent is woken for it: refuses with 404 what no agent of this account can have at this address. */
export async function checkPage(
  { agents }: HttpContext,
  accountId: string,
  { kind, id, port }: AgentAddress,
  published: AgentPortRow | null,
): Promise<void> {
  if (port === null || isDashboard({ kind, port }) || published?.accountId === accountId) return;
  await agents.get(accountId, id);
  throw notPublished(port);
}

/** What of a live agent an address leads to. */
export function serverOf({ row, guest, web }: LiveAgent, { kind, port }: AgentAddress): WebEndpoint {
  if (row.runtimeKind !== kind) throw new ApiError('agent_not_found', 'No agent has this address.');
  if (port !== null && !isDashboard({ kind, port })) return { origin: `http://${guest.address}:${port}`, headers: {} };
  const page = port === null ? 'gateway' : 'dashboard';
  const found = web(page);
  if (found === null) throw new ApiError('route_not_found', `This agent has no ${page}.`);
  return found;
}

export const notPublished = (port: number): ApiError =>
  new ApiError('port_not_found', `Port ${port} of this agent is not published.`);
