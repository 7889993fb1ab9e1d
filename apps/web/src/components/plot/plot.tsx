/**
 * Plots with the same figures as a table below them. The drawing is read out by its title and followed by the arrow keys;
 * nothing in it moves by itself.
 */
import { Suspense, lazy } from 'react';
import type { ReactNode } from 'react';
import { cx } from '../cx.ts';
import { FiguresTable } from './figures-table.tsx';
import { colourOf, largestSeries } from './figures.ts';
import type { PlotPoint, PlotSeries } from './figures.ts';

const DrawnBars = lazy(async () => ({ default: (await import('./charts.tsx')).DrawnBars }));
const DrawnLines = lazy(async () => ({ default: (await import('./charts.tsx')).DrawnLines }));

interface PlotProps {
  /** The plotted figures as a title: "Cost by day and model". */
  readonly label: string;
  readonly pointName?: string;
  readonly series: readonly PlotSeries[];
  readonly points: readonly PlotPoint[];
  /** Writes an exact figure. */
  readonly format: (value: number) => string;
}

/** Bars by day, one coloured part for each series. Small series beyond the sixth are shown as one. */
export function StackedBars({ label, pointName = 'Day', series, points, format }: PlotProps) {
  const largest = largestSeries(series, points);
  return (
    <div>
      <Canvas series={largest.series}>
        <DrawnBars label={label} {...largest} format={format} />
      </Canvas>
      <FiguresTable {...largest} {...{ label, pointName, format }} total={largest.series.length > 1} />
    </div>
  );
}

interface LinesProps extends PlotProps {
  readonly limit?: number | null;
  /** The key of the series that is expected, not measured. */
  readonly expected?: string;
}

/** A limit so many times higher would press the lines flat. */
const farTimes = 6;

/** Lines by day, with the limit above them. */
export function LineWithLimit({ label, pointName = 'Day', series, points, format, limit, expected }: LinesProps) {
  const highest = Math.max(...points.flatMap(({ values }) => Object.values(values)), 0);
  const isFar = limit != null && limit > farTimes * highest;
  return (
    <div>
      <Canvas series={series} note={isFar ? `The limit, ${format(limit)}, is far above.` : null}>
        <DrawnLines
          {...{ label, series, points, format }}
          limit={isFar ? null : (limit ?? null)}
          dashed={expected ?? ''}
        />
      </Canvas>
      <FiguresTable {...{ label, pointName, series, points, format }} total={false} />
    </div>
  );
}

/** The place of a drawing, of one height before and after its code is there, and its legend. */
interface CanvasProps {
  readonly series: readonly PlotSeries[];
  readonly note?: string | null;
  readonly children: ReactNode;
}

function Canvas({ series, note = null, children }: CanvasProps) {
  return (
    <div className="flex flex-col gap-3 px-3 pt-4 pb-4 sm:px-4">
      <div className="h-56 [&_svg]:rounded-control">
        <Suspense fallback={<div aria-hidden className="size-full animate-pulse rounded-control bg-sunken" />}>
          {children}
        </Suspense>
      </div>
      <ul aria-label="Legend" className="flex flex-wrap gap-x-4 gap-y-1 px-2 text-xs text-muted">
        {series.map((each, index) => (
          <li key={each.key} className="flex min-w-0 items-center gap-1.5">
            <span aria-hidden className={cx('size-2.5 shrink-0 rounded-xs', colourOf(each, index).swatch)} />
            <span className="truncate">{each.name}</span>
          </li>
        ))}
        {note !== null && <li>{note}</li>}
      </ul>
    </div>
  );
}
