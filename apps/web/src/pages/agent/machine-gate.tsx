import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Agent } from '@lodge/sdk';
import { MoonStar, Play } from 'lucide-react';
import type { ReactNode } from 'react';
import { change, lodge } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Failure } from '../../components/notice.tsx';
import { EmptyState, SkeletonRows } from '../../components/states.tsx';
import { useMay } from '../../session.ts';
import { agentQuery } from './queries.ts';

interface GateProps {
  readonly agent: Agent;
  /** The thing that the page opens: "its files", "a terminal". */
  readonly what: string;
  readonly children: ReactNode;
}

/**
 * Shows a page that needs the agent's machine while there is one. A paused machine goes on by itself within a moment; a stopped
 * one is started only when the person says so.
 */
export function MachineGate({ agent, what, children }: GateProps) {
  if (agent.status === 'running' || agent.status === 'paused') return children;
  return (
    <div className="rounded-card border border-line bg-surface shadow-card">
      {agent.status === 'provisioning' || agent.transition?.kind === 'start' ? (
        <div>
          <p role="status" className="px-5 pt-5 text-muted sm:px-6">
            The machine is being started. This page opens by itself.
          </p>
          <SkeletonRows />
        </div>
      ) : (
        <Asleep agent={agent} what={what} />
      )}
    </div>
  );
}

function Asleep({ agent, what }: Omit<GateProps, 'children'>) {
  const mayStart = useMay('agents:write');
  const queryClient = useQueryClient();
  const start = useMutation({
    mutationFn: () => change(() => lodge.agents.start(agent.id, {})),
    onSuccess: (now) => queryClient.setQueryData(agentQuery(agent.id).queryKey, now),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['agents'] }),
  });
  return (
    <>
      <EmptyState
        Icon={MoonStar}
        title={agent.status === 'error' ? 'The machine does not run' : 'The agent is stopped'}
        action={
          mayStart && (
            <Button variant="primary" pending={start.isPending} onClick={() => start.mutate()}>
              <Play aria-hidden className="size-4" />
              Start the agent
            </Button>
          )
        }
      >
        {agent.status === 'error' ? 'The reason is above.' : 'Nothing is lost: it goes on where it was.'} Opening {what}{' '}
        needs its machine{mayStart ? '' : ', which somebody with more rights can start'}.
      </EmptyState>
      <div className="px-6 pb-6 empty:hidden">
        <Failure error={start.error} />
      </div>
    </>
  );
}
