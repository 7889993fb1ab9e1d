import { useQuery } from '@tanstack/react-query';
import type { Agent } from '@lodge/sdk';
import { LoaderCircle } from 'lucide-react';
import { list, lodge } from '../../api.ts';
import { Time } from '../../components/time.tsx';

const lookEveryMs = 2_000;

/** Says what an agent waits for while it is made: a template is made once, and takes minutes; after that an agent takes a second. */
export function Provisioning({ agent }: { agent: Agent }) {
  const logs = useQuery({
    queryKey: ['agent', agent.id, 'logs', 'newest'],
    queryFn: () => list(lodge.agents.logs(agent.id, { limit: 1, source: 'system' })),
    refetchInterval: lookEveryMs,
  });
  const [entry] = logs.data ?? [];
  return (
    <div role="status" className="flex gap-2.5 rounded-control bg-accent-soft px-3.5 py-2.5">
      <LoaderCircle aria-hidden className="mt-0.5 size-4 shrink-0 animate-spin text-accent" />
      <div className="min-w-0">
        <p className="font-medium">The machine is being made. You can write already: the agent answers once it runs.</p>
        <p className="text-muted wrap-anywhere">
          {entry === undefined
            ? 'This takes about a second, or minutes where a template is made first.'
            : entry.message}{' '}
          Asked for <Time value={agent.created_at} />.
        </p>
      </div>
    </div>
  );
}
