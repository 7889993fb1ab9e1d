import { Refusal, abilitiesOf } from '@lodge/domain';
import { notPublished } from '@lodge/engine';
import type { Agents, LiveAgent, OwnedPort } from '@lodge/engine';
import type { WebEndpoint } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import type { AgentAddress } from './address.ts';

/** Whether a TCP port is the dashboard's, which is served while the dashboard is on and is never published as a port. */
export const isDashboard = ({ kind, port }: Pick<AgentAddress, 'kind' | 'port'>): boolean =>
  port !== null && port === abilitiesOf(kind).dashboardPort;

/**
 * Checks a page before an agent is woken for it: refuses with 404 a page that no agent of this account can have at this
 * address.
 */
export async function checkPage(
  { agents }: { readonly agents: Pick<Agents, 'get'> },
  accountId: string,
  { kind, id, port }: AgentAddress,
  published: OwnedPort | null,
): Promise<void> {
  if (port === null || isDashboard({ kind, port }) || published?.accountId === accountId) return;
  await agents.get(accountId, id);
  throw notPublished(port);
}

/** Refuses with 404 the view of a browser that the agent does not have. */
export function checkView({ runtimeKind, browser }: AgentRow, { kind }: AgentAddress): void {
  if (runtimeKind !== kind) throw new Refusal('agent_not_found', 'No agent has this address.');
  if (!browser) throw new Refusal('route_not_found', 'This agent has no browser.');
}

/** The server of a live agent that an address leads to. */
export function serverOf({ row, web }: LiveAgent, { kind, port }: AgentAddress): WebEndpoint {
  if (row.runtimeKind !== kind) throw new Refusal('agent_not_found', 'No agent has this address.');
  if (port !== null && !isDashboard({ kind, port })) return { port, headers: {} };
  const page = port === null ? 'gateway' : 'dashboard';
  const found = web(page);
  if (found === null) throw new Refusal('route_not_found', `This agent has no ${page}.`);
  return found;
}
