import { useState } from 'react';
import { sumOf } from './figures.ts';
import type { PlotPoint, PlotSeries } from './figures.ts';

interface FiguresTableProps {
  readonly label: string;
  /** The header of the first column: "Day". */
  readonly pointName: string;
  readonly series: readonly PlotSeries[];
  readonly points: readonly PlotPoint[];
  readonly format: (value: number) => string;
  readonly total: boolean;
}

/** The figures of a plot as a table, for reading them exactly, or without seeing the plot. It is made when it is opened. */
export function FiguresTable(props: FiguresTableProps) {
  const [open, setOpen] = useState(false);
  return (
    <details className="border-t border-line" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="px-5 py-3 text-[0.8125rem] font-medium text-muted hover:text-ink sm:px-6">
        Show the figures as a table
      </summary>
      {open && <Figures {...props} />}
    </details>
  );
}

function Figures({ label, pointName, series, points, format, total }: FiguresTableProps) {
  const cell = 'px-3 py-2 text-right first:pl-5 first:text-left last:pr-5 sm:first:pl-6 sm:last:pr-6';
  return (
    // Content that scrolls is reached by the keyboard.
    <div role="group" aria-label={label} tabIndex={0} className="max-h-96 overflow-auto border-t border-line">
      <table aria-label={label} className="w-full text-[0.8125rem] tabular-nums">
        <thead className="sticky top-0 bg-surface">
          <tr className="text-muted">
            {[pointName, ...series.map(({ name }) => name), ...(total ? ['Together'] : [])].map((name, index) => (
              <th key={`${String(index)} ${name}`} scope="col" className={`${cell} max-w-48 truncate font-medium`}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line border-t border-line">
          {points.map((point) => (
            <tr key={point.label}>
              <th scope="row" className={`${cell} font-normal whitespace-nowrap`}>
                {point.label}
              </th>
              {series.map(({ key }) => (
                <td key={key} className={cell}>
                  {point.values[key] === undefined ? '–' : format(point.values[key])}
                </td>
              ))}
              {total && <td className={`${cell} font-medium`}>{format(sumOf(point))}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
