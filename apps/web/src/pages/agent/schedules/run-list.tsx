import type { ScheduleRun } from '@lodge/sdk';
import { History } from 'lucide-react';
import { Badge } from '../../../components/badge.tsx';
import type { Tone } from '../../../components/badge.tsx';
import { Paged, usePages } from '../../../components/shown/paged.tsx';
import { Section } from '../../../components/page.tsx';
import { EmptyState } from '../../../components/states.tsx';
import { Time } from '../../../components/time.tsx';
import { formatDateTime, formatUsd } from '../../../format.ts';
import { runsKey, runsPage } from './queries.ts';

interface RunWords {
  readonly label: string;
  readonly tone: Tone;
}

const words = {
  ok: { label: 'Answered', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  missed: { label: 'Missed', tone: 'warning' },
  skipped: { label: 'Skipped', tone: 'quiet' },
} as const satisfies Record<string, RunWords>;

export function runWords({ status, started_at: started }: Pick<ScheduleRun, 'status' | 'started_at'>): RunWords {
  if (status !== null) return words[status];
  return { label: started === null ? 'Waits' : 'Under way', tone: 'quiet' };
}

/** The runs of a schedule, newest first, with the first lines of their answers. */
export function RunList({ agentId, schedule }: { readonly agentId: string; readonly schedule: string }) {
  const query = usePages(runsKey(agentId, schedule), runsPage(agentId, schedule));
  return (
    <Section title="Runs" description="The last 200 of 90 days are kept.">
      <Paged query={query}>
        {(runs) =>
          runs.length === 0 ? (
            <EmptyState Icon={History} title="No run yet">
              Run it now to see what the agent answers.
            </EmptyState>
          ) : (
            <ul aria-label="Runs" className="divide-y divide-line">
              {runs.map((run) => (
                <RunRow key={run.id} run={run} />
              ))}
            </ul>
          )
        }
      </Paged>
    </Section>
  );
}

function RunRow({ run }: { readonly run: ScheduleRun }) {
  const { label, tone } = runWords(run);
  return (
    <li className="flex flex-col gap-2 px-5 py-4 sm:px-6">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium">{formatDateTime(new Date(run.scheduled_for))}</span>
        <Badge tone={tone}>{label}</Badge>
        <span className="text-[0.8125rem] text-muted">{factsOf(run).join(' · ')}</span>
        <span className="ml-auto text-[0.8125rem] text-muted">
          <Time value={run.ended_at ?? run.started_at ?? run.scheduled_for} />
        </span>
      </p>
      {run.answer_preview !== null && run.answer_preview !== '' && (
        <p className="max-h-60 overflow-y-auto whitespace-pre-wrap wrap-anywhere" tabIndex={0}>
          {run.answer_preview}
        </p>
      )}
      {run.error !== null && <p className="wrap-anywhere text-danger">{run.error}</p>}
    </li>
  );
}

function factsOf({ started_at: started, ended_at: ended, cost, attempts }: ScheduleRun): string[] {
  const facts: string[] = [];
  if (started !== null && ended !== null) {
    const seconds = Math.max(0, Date.parse(ended) - Date.parse(started)) / 1000;
    facts.push(seconds < 90 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds / 60)} min`);
  }
  if (cost !== null) facts.push(formatUsd(cost));
  if (attempts > 1) facts.push(`${attempts} attempts`);
  return facts;
}
