import type { LiveAgent } from '@lodge/engine';
import type { AgentRow, WebEndpoint } from '@lodge/engine/ports';
import type { HttpContext } from '../context.ts';
import { ApiError } from '../errors.ts';
import { dashboardPort } from './address.ts';
import type { AgentAddress } from './address.ts';

/** Whether the port is the agent's dashboard's, which is served while it is on and is never published as a port. */
export const isDashboard = ({ runtimeKind }: AgentRow, port: number | null): boolean =>
  runtimeKind === 'runtime_b' && port === dashboardPort;

/** What of an agent an address leads to, once it is live. Refuses with 404 where that is nothing. */
export async function serverOf(
  { places }: HttpContext,
  row: AgentRow,
  { kind, port }: AgentAddress,
): Promise<(live: LiveAgent) => WebEndpoint> {
  if (row.runtimeKind !== kind) throw new ApiError('agent_not_found', 'No agent has this address.');
  if (port === null || isDashboard(row, port)) {
    const page = port === null ? 'gateway' : 'dashboard';
    return ({ web }) => {
      const found = web(page);
      if (found === null) throw new ApiError('route_not_found', `This agent has no ${page}.`);
      return found;
    };
  }
  if ((await places.ports.find(row.id, port)) === null) throw notPublished(port);
  return ({ guest }) => ({ origin: `http://${guest.address}:${port}`, headers: {} });
}

export const notPublished = (port: number): ApiError =>
  new ApiError('port_not_found', `Port ${port} of this agent is not published.`);
