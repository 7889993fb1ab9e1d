import { useQuery } from '@tanstack/react-query';
import { LoaderCircle } from 'lucide-react';
import { useAccount } from '../../session.ts';
import { hostQuery } from '../host/queries.ts';

const lookEveryMs = 3_000;

/** Says to the owner what the first agent will wait for: templates that are still being made. */
export function TemplateNotice() {
  const isOwner = useAccount().role === 'owner';
  const host = useQuery({
    ...hostQuery,
    enabled: isOwner,
    refetchInterval: lookEveryMs,
  });
  const made = host.data?.templates.filter(({ state }) => state === 'building') ?? [];
  if (made.length === 0) return null;
  return (
    <div role="status" className="flex flex-col gap-2 rounded-control bg-accent-soft px-3.5 py-2.5">
      {made.map(({ runtime, step, fraction }) => (
        <div key={runtime} className="flex gap-2.5">
          <LoaderCircle aria-hidden className="mt-0.5 size-4 shrink-0 animate-spin text-accent" />
          <p className="min-w-0">
            <span className="font-medium">The template of {runtime} is being made, once and for all agents.</span>{' '}
            <span className="text-muted wrap-anywhere">
              {step}
              {fraction !== null && ` (${Math.round(fraction * 100)} %)`}. You can create the agent already: it starts
              as soon as it can.
            </span>
          </p>
        </div>
      ))}
    </div>
  );
}
