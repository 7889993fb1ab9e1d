import { useQuery } from '@tanstack/react-query';
import { TrendingUp } from 'lucide-react';
import { Section } from '../../../components/page.tsx';
import { LineWithLimit } from '../../../components/plot/plot.tsx';
import { EmptyState, Loaded } from '../../../components/states.tsx';
import { formatUsd } from '../../../format.ts';
import { forecastOf } from './forecast.ts';
import type { Forecast } from './forecast.ts';
import { dayName } from './points.ts';
import { monthQuery } from './queries.ts';
import type { Whose } from './queries.ts';
import { PlotSkeleton } from './report-section.tsx';

const series = [
  { key: 'spent', name: 'Spent since the first' },
  { key: 'expected', name: 'Expected' },
];

/** Whole cents: more would promise what a forecast does not know. */
const about = (usd: number): string => formatUsd(usd.toFixed(2));

/** The month so far, what it will have come to at its end, and the limit. */
export function MonthSection({ whose, limitUsd }: { whose: Whose; limitUsd: string | null }) {
  const usage = useQuery(monthQuery(whose));
  const limit = limitUsd === null ? null : Number(limitUsd);
  return (
    <Section title="Forecast" description="Model calls of this month, in days of UTC as limits are.">
      <Loaded query={usage} skeleton={<PlotSkeleton />}>
        {(data) => {
          const forecast = forecastOf(data, limit);
          if (forecast.spentUsd === 0 && forecast.expected === null) {
            return (
              <EmptyState Icon={TrendingUp} title="No forecast yet">
                It goes by whole days on which models cost something.
              </EmptyState>
            );
          }
          return (
            <>
              <Words forecast={forecast} limit={limit} />
              <LineWithLimit
                label="Spent this month, and expected"
                series={forecast.expected === null ? series.slice(0, 1) : series}
                points={forecast.points}
                format={(value) => formatUsd(value.toFixed(6))}
                limit={limit}
                expected="expected"
              />
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}

function Words({ forecast: { expected, spentUsd }, limit }: { forecast: Forecast; limit: number | null }) {
  if (expected === null) {
    return (
      <p className="px-5 pt-4 text-muted sm:px-6">
        There is no forecast yet: it goes by whole days on which something was spent.
      </p>
    );
  }
  const { totalUsd, perDayUsd, days, limitAt } = expected;
  return (
    <div className="flex flex-col gap-1 px-5 pt-4 sm:px-6">
      <p className="text-base">
        About <strong className="font-semibold tabular-nums">{about(totalUsd)}</strong> by the end of the month
        {limit !== null && limitAt !== null && (
          <>
            ; the limit of {formatUsd(String(limit))}{' '}
            {spentUsd >= limit ? 'is reached' : `would be reached about ${dayName(limitAt, 'UTC')}`}
          </>
        )}
        .
      </p>
      <p className="text-[0.8125rem] text-muted">
        Reckoned as what was spent so far, and {about(perDayUsd)} for each day that is left: the average of{' '}
        {days === 1 ? 'yesterday' : `the last ${days} whole days`}.
      </p>
    </div>
  );
}
