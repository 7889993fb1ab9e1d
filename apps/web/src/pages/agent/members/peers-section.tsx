import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Agent } from '@lodge/sdk';
import { Network } from 'lucide-react';
import { buttonClass } from '../../../components/button.tsx';
import { Section } from '../../../components/page.tsx';
import { EmptyState } from '../../../components/states.tsx';
import { pathTo } from '../../../paths.ts';
import { useMay } from '../../../session.ts';
import { StatusBadge } from '../status-badge.tsx';
import { peerNamesQuery } from './queries.ts';

/** Agents in other machines that this one may ask. Its settings name them. */
export function PeersSection({ agent }: { agent: Agent }) {
  const mayChange = useMay('agents:write');
  const others = useQuery(peerNamesQuery).data?.filter(({ id }) => id !== agent.id) ?? [];
  const asksAll = agent.peers.includes('*');
  const settings = (
    <Link to={pathTo('/agents/$agentId/settings', agent.id)} hash="peers" className={buttonClass('secondary')}>
      Change in settings
    </Link>
  );
  return (
    <Section
      title="Peers"
      description="Agents with machines of their own that this one may ask, with its tool ask_agent. They share nothing but what they say."
      actions={mayChange && agent.peers.length > 0 && settings}
    >
      {agent.peers.length === 0 ? (
        <EmptyState Icon={Network} title="It asks no other agent" action={mayChange && settings}>
          Name peers in its settings, and it hands them work by itself.
        </EmptyState>
      ) : (
        <ul aria-label="Peers" className="divide-y divide-line">
          {asksAll && <li className="px-5 py-3 sm:px-6">All agents of the account</li>}
          {(asksAll ? others : agent.peers).map((peer) => {
            const id = typeof peer === 'string' ? peer : peer.id;
            const known = others.find((other) => other.id === id);
            return (
              <li key={id} className="flex items-center gap-3 px-5 py-3 sm:px-6">
                <Link
                  to={pathTo('/agents/$agentId/chat', id)}
                  className="min-w-0 truncate text-accent underline underline-offset-2"
                >
                  <bdi>{known?.name ?? id}</bdi>
                </Link>
                {known !== undefined && <StatusBadge agent={known} />}
              </li>
            );
          })}
        </ul>
      )}
    </Section>
  );
}
