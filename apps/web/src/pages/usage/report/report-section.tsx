import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ChartColumn, Download } from 'lucide-react';
import { Button } from '../../../components/button.tsx';
import { SelectField } from '../../../components/form/field.tsx';
import { Failure } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import { StackedBars } from '../../../components/plot/plot.tsx';
import { saveFile } from '../../../components/save-file.ts';
import { EmptyState, Loaded, Skeleton } from '../../../components/states.tsx';
import { formatNumber, formatUsd } from '../../../format.ts';
import { periods, timeZone } from './period.ts';
import { formatOf, plotOf, tokensOf } from './points.ts';
import { agentNamesQuery, reportCsv, reportQuery } from './queries.ts';
import type { Report, Whose } from './queries.ts';
import { groupings, shows } from './search.ts';
import type { Grouping, ReportSearch } from './search.ts';

interface ReportProps {
  readonly whose: Whose;
  readonly search: ReportSearch;
  /** The groupings to choose from; the first is the usual one. */
  readonly offered: readonly Grouping[];
}

/** Shows usage by day, as a plot and as a table. The choice of it is in the page's address. */
export function ReportSection({ whose, search, offered }: ReportProps) {
  const { period = '30d', show = 'cost' } = search;
  const by = search.by !== undefined && offered.includes(search.by) ? search.by : offered[0]!;
  const report = useQuery(reportQuery(whose, period, by));
  const names = useQuery({ ...agentNamesQuery, enabled: by === 'agent' });
  const nameOf = (group: string): string => (by === 'agent' ? (names.data?.get(group) ?? group) : group);
  return (
    <Section
      title="By day"
      description={`Days begin at midnight ${timeZone}. Calls without a known price are not in the cost.`}
      actions={<CsvButton whose={whose} period={period} by={by} />}
    >
      <Choices search={search} by={by} offered={offered} />
      <Loaded query={report} skeleton={<PlotSkeleton />}>
        {(data) => {
          const plot = plotOf(data, { by, show, nameOf });
          if (plot.series.length === 0) {
            return (
              <EmptyState Icon={ChartColumn} title="Nothing to show for these days">
                {show === 'cost' ? 'Nothing with a known price was used.' : 'No model was called.'}
              </EmptyState>
            );
          }
          return (
            <>
              <Totals report={data} />
              <StackedBars
                label={`${shows[show]} by day and ${groupings[by].toLowerCase()}`}
                {...plot}
                format={formatOf(show)}
              />
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}

function Choices({ search, by, offered }: Pick<ReportProps, 'search' | 'offered'> & { readonly by: Grouping }) {
  const navigate = useNavigate();
  const choose = (change: ReportSearch): void =>
    void navigate({ to: '.', search: { ...search, ...change }, replace: true, resetScroll: false });
  return (
    <div className="grid gap-4 border-b border-line px-5 py-4 sm:grid-cols-3 sm:px-6">
      <Choice
        label="Period"
        values={periods}
        value={search.period ?? '30d'}
        onChoose={(period) => choose({ period })}
      />
      <Choice
        label="By"
        values={Object.fromEntries(offered.map((each) => [each, groupings[each]])) as Record<Grouping, string>}
        value={by}
        onChoose={(chosen) => choose({ by: chosen })}
      />
      <Choice label="Show" values={shows} value={search.show ?? 'cost'} onChoose={(show) => choose({ show })} />
    </div>
  );
}

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly values: Readonly<Record<Value, string>>;
  readonly value: Value;
  readonly onChoose: (value: Value) => void;
}

function Choice<Value extends string>({ label, values, value, onChoose }: ChoiceProps<Value>) {
  return (
    <SelectField label={label} value={value} onChange={(event) => onChoose(event.currentTarget.value as Value)}>
      {Object.entries<string>(values).map(([each, name]) => (
        <option key={each} value={each}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}

function Totals({ report: { days } }: { report: Report }) {
  const { totals } = days;
  const { unpriced_requests: unpriced } = totals.llm;
  const facts = [
    ['Cost', formatUsd(totals.cost.total)],
    ['Model calls', formatNumber(totals.llm.requests)],
    ['Tokens', formatNumber(tokensOf(totals))],
    ...(unpriced > 0 ? [['Without a price', `${formatNumber(unpriced)} calls`]] : []),
  ];
  return (
    <dl className="flex flex-wrap gap-x-10 gap-y-3 px-5 pt-4 sm:px-6">
      {facts.map(([name, value]) => (
        <div key={name} className="flex flex-col">
          <dt className="text-[0.8125rem] text-muted">{name}</dt>
          <dd className="text-lg font-semibold tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function CsvButton({ whose, period, by }: { whose: Whose; period: keyof typeof periods; by: Grouping }) {
  const download = useMutation({
    mutationFn: () => reportCsv(whose, period, by),
    onSuccess: (text) => saveFile(`lodge-usage-${period}-by-${by}.csv`, new Blob([text], { type: 'text/csv' })),
  });
  return (
    <div className="flex flex-col items-end gap-2">
      <Button pending={download.isPending} onClick={() => download.mutate()}>
        <Download aria-hidden className="size-4" />
        Download CSV
      </Button>
      <Failure error={download.error} />
    </div>
  );
}

export function PlotSkeleton() {
  return (
    <div role="status" className="flex flex-col gap-4 px-5 py-4 sm:px-6">
      <span className="sr-only">Loading…</span>
      <Skeleton className="h-10 w-64 max-w-full" />
      <Skeleton className="h-56" />
      <Skeleton className="h-9 w-48" />
    </div>
  );
}
