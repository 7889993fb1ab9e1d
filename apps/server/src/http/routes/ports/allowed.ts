import { Refusal } from '@lodge/domain';
import type { Agents } from '@lodge/engine';
import { guestdPort } from '@lodge/guest';
import type { AgentRow } from '@lodge/store/agents';
import { isDashboard } from '../../agent-urls/server-of.ts';

/**
 * Refuses ports that nobody reaches but the service: the daemon's and the gateway's obey every caller that reaches them, and
 * the dashboard has its own address already.
 */
export function checkPort(agents: Pick<Agents, 'gatewayPortOf'>, { runtimeKind: kind }: AgentRow, port: number): void {
  const taken = isDashboard({ kind, port }) || [guestdPort, agents.gatewayPortOf(kind)].includes(port);
  if (taken) throw new Refusal('invalid_request', `port: ${port} is used by the service itself.`);
}
