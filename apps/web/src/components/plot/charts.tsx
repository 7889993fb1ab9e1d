/** The drawn plots. They are a chunk of their own, because only a few pages need their library. */
import { Bar, BarChart, CartesianGrid, Line, LineChart, ReferenceLine, Tooltip, XAxis, YAxis } from 'recharts';
import type { TooltipContentProps } from 'recharts';
import { cx } from '../cx.ts';
import { colourOf } from './figures.ts';
import type { PlotPoint, PlotSeries } from './figures.ts';

interface DrawnProps {
  readonly label: string;
  readonly series: readonly PlotSeries[];
  readonly points: readonly PlotPoint[];
  readonly format: (value: number) => string;
}

const size = { width: '100%', height: '100%' } as const;
const margin = { top: 8, right: 8, bottom: 0, left: 0 } as const;
const tick = { fill: 'var(--color-muted)', fontSize: 12 } as const;

export function DrawnBars({ label, series, points, format }: DrawnProps) {
  return (
    <BarChart responsive style={size} data={[...points]} margin={margin} title={label} barCategoryGap="20%">
      {axes(format)}
      <Tooltip
        cursor={{ fill: 'var(--color-hover)' }}
        isAnimationActive={false}
        content={(props) => <Reading {...props} series={series} format={format} total />}
      />
      {series.map((each, index) => (
        <Bar
          key={each.key}
          dataKey={(point: PlotPoint) => point.values[each.key] ?? 0}
          name={each.name}
          stackId="all"
          fill={colourOf(each, index).stroke}
          maxBarSize={48}
          isAnimationActive={false}
        />
      ))}
    </BarChart>
  );
}

interface DrawnLineProps extends DrawnProps {
  readonly limit: number | null;
  /** Series that are an expectation, drawn dashed. */
  readonly dashed: string;
}

export function DrawnLines({ label, series, points, format, limit, dashed }: DrawnLineProps) {
  return (
    <LineChart responsive style={size} data={[...points]} margin={{ ...margin, top: 20 }} title={label}>
      {axes(format)}
      <Tooltip
        cursor={{ stroke: 'var(--color-control)' }}
        isAnimationActive={false}
        content={(props) => <Reading {...props} series={series} format={format} />}
      />
      {limit !== null && (
        <ReferenceLine
          y={limit}
          ifOverflow="extendDomain"
          stroke="var(--color-danger)"
          strokeDasharray="2 3"
          label={{
            value: `Limit ${format(limit)}`,
            position: 'insideTopLeft',
            fill: 'var(--color-danger)',
            fontSize: 12,
            dy: -19,
          }}
        />
      )}
      {series.map((each, index) => (
        <Line
          key={each.key}
          dataKey={(point: PlotPoint) => point.values[each.key] ?? null}
          name={each.name}
          stroke={colourOf(each, index).stroke}
          strokeWidth={2}
          strokeDasharray={each.key === dashed ? '5 4' : ''}
          dot={false}
          isAnimationActive={false}
        />
      ))}
    </LineChart>
  );
}

function axes(format: (value: number) => string) {
  return (
    <>
      <CartesianGrid vertical={false} stroke="var(--color-line)" />
      <XAxis
        dataKey={({ label }: PlotPoint) => label}
        tick={tick}
        tickLine={false}
        axisLine={{ stroke: 'var(--color-line)' }}
        minTickGap={24}
      />
      <YAxis width="auto" tick={tick} tickLine={false} axisLine={false} tickFormatter={format} domain={[0, 'auto']} />
    </>
  );
}

interface ReadingProps extends Pick<TooltipContentProps, 'active' | 'payload'> {
  readonly series: readonly PlotSeries[];
  readonly format: (value: number) => string;
  readonly total?: boolean;
}

/** The figures of the point that the pointer or the arrow keys are at. */
function Reading({ active, payload, series, format, total = false }: ReadingProps) {
  const point = payload[0]?.payload as PlotPoint | undefined;
  if (!active || point === undefined) return null;
  const shown = series.flatMap((each, index) => {
    const value = point.values[each.key];
    return value === undefined || (value === 0 && series.length > 1) ? [] : [{ each, index, value }];
  });
  const sum = shown.reduce((all, { value }) => all + value, 0);
  return (
    <div className="max-w-72 rounded-control border border-line bg-raised px-3 py-2 text-xs text-ink shadow-float">
      <p className="pb-1 font-medium">{point.label}</p>
      <ul className="flex flex-col gap-1">
        {shown.map(({ each, index, value }) => (
          <li key={each.key} className="flex items-center gap-2">
            <span aria-hidden className={cx('size-2.5 shrink-0 rounded-xs', colourOf(each, index).swatch)} />
            <span className="min-w-0 grow truncate text-muted">{each.name}</span>
            <span className="tabular-nums">{format(value)}</span>
          </li>
        ))}
        {total && shown.length !== 1 && (
          <li className="flex justify-between gap-4 font-medium">
            <span>{shown.length === 0 ? 'Nothing' : 'Together'}</span>
            <span className="tabular-nums">{shown.length > 0 && format(sum)}</span>
          </li>
        )}
      </ul>
    </div>
  );
}
