import type { Agent } from '@lodge/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ShieldCheck } from 'lucide-react';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { Failure } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import { EmptyState, Loaded } from '../../../components/states.tsx';
import { Time } from '../../../components/time.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { linesRead, putEgress, refusedQuery } from './queries.ts';
import { isAllowed, refusedOf } from './refused.ts';
import type { Refused } from './refused.ts';

/** The places that the agent asked for and did not get, with a click to allow it. */
export function RefusedSection({ agent, mayChange }: { readonly agent: Agent; readonly mayChange: boolean }) {
  const lines = useQuery(refusedQuery(agent.id));
  return (
    <Section title="Refused lately" description={`From the last ${linesRead} lines of the agent’s log, newest first.`}>
      <Loaded query={lines}>
        {(data) => {
          const places = refusedOf(data);
          if (places.length === 0) {
            return (
              <EmptyState Icon={ShieldCheck} title="Nothing was refused">
                {agent.egress.mode === 'public'
                  ? 'This agent may reach every public address.'
                  : 'Names and addresses that the rules do not allow appear here when the agent asks for them.'}
              </EmptyState>
            );
          }
          return (
            <ul aria-label="Refused lately" className="divide-y divide-line">
              {places.map((refused) => (
                <RefusedRow key={refused.place} refused={refused} agent={agent} mayChange={mayChange} />
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Section>
  );
}

interface RowProps {
  readonly refused: Refused;
  readonly agent: Agent;
  readonly mayChange: boolean;
}

function RefusedRow({ refused, agent, mayChange }: RowProps) {
  const { place, ways, count, lastAt } = refused;
  const { mode, allow } = agent.egress;
  const isIn = mode === 'public' || isAllowed(place, allow);
  const queryClient = useQueryClient();
  const add = useMutation({
    mutationFn: () => putEgress(agent.id, { mode: 'allowlist', allow: [...allow, place] }),
    onSuccess: (saved) => {
      queryClient.setQueryData(['agent', agent.id], saved);
      toast(`${place} is allowed.`);
    },
  });
  return (
    <li className="flex flex-col gap-3 px-5 py-3.5 sm:px-6">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <div className="min-w-0 grow basis-56">
          <p className="font-mono text-[0.8125rem] font-medium wrap-anywhere">{place}</p>
          <p className="text-[0.8125rem] text-muted">
            {count === 1 ? 'Once' : `${count} times`}
            {ways.length > 0 && `, ${ways.slice(0, 5).join(', ')}`} · last <Time value={lastAt} />
          </p>
        </div>
        {isIn && <Badge tone="good">Allowed now</Badge>}
        {!isIn && mayChange && (
          <Button small pending={add.isPending} onClick={() => add.mutate()} aria-label={`Allow ${place}`}>
            Allow
          </Button>
        )}
      </div>
      <Failure error={add.error} />
    </li>
  );
}
