import { useQuery } from '@tanstack/react-query';
import { ArrowLeftRight } from 'lucide-react';
import { Section } from '../../../components/page.tsx';
import { EmptyState, Loaded } from '../../../components/states.tsx';
import { Time } from '../../../components/time.tsx';
import { cut } from '../answers/stranger.tsx';
import { connectionCallsQuery } from './queries.ts';

/** The newest lines of the agent's log about a connection: requests, refusals, and servers without tools. */
export function CallsSection({ agentId, name }: { readonly agentId: string; readonly name: string }) {
  const calls = useQuery(connectionCallsQuery(agentId, name));
  return (
    <Section title="Lately" description="What the agent’s log says of it, newest first.">
      <Loaded query={calls}>
        {(lines) =>
          lines.length === 0 ? (
            <EmptyState Icon={ArrowLeftRight} title="Nothing yet">
              Each call of the agent stands here, and why one was refused.
            </EmptyState>
          ) : (
            <ul aria-label="Calls lately" className="divide-y divide-line">
              {lines.map((line) => (
                <li key={line.id} className="flex flex-wrap items-baseline gap-x-4 gap-y-1 px-5 py-3 sm:px-6">
                  <span className="min-w-0 grow basis-64 font-mono text-[0.8125rem] wrap-anywhere">
                    {cut(line.message, 1000)}
                  </span>
                  <span className="text-[0.8125rem] text-muted">
                    <Time value={line.timestamp} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}
