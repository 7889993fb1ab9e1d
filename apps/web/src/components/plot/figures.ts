/** One coloured part of a plot, and one column of its table. */
export interface PlotSeries {
  readonly key: string;
  readonly name: string;
}

/** One place on the horizontal axis; a series without a value there has none to show. */
export interface PlotPoint {
  readonly label: string;
  readonly values: Readonly<Record<string, number>>;
}

/** Series beside each other that people can still tell apart; the rest is summed up. */
const maxSeries = 6;
const restKey = 'other';

/** The colours in the order of their use, as styles.css defines them for both themes. */
const colours = [
  { stroke: 'var(--color-plot-1)', swatch: 'bg-plot-1' },
  { stroke: 'var(--color-plot-2)', swatch: 'bg-plot-2' },
  { stroke: 'var(--color-plot-3)', swatch: 'bg-plot-3' },
  { stroke: 'var(--color-plot-4)', swatch: 'bg-plot-4' },
  { stroke: 'var(--color-plot-5)', swatch: 'bg-plot-5' },
  { stroke: 'var(--color-plot-6)', swatch: 'bg-plot-6' },
] as const;
const restColour = { stroke: 'var(--color-plot-rest)', swatch: 'bg-plot-rest' } as const;

export const colourOf = ({ key }: PlotSeries, index: number): (typeof colours)[number] | typeof restColour =>
  key === restKey ? restColour : (colours[index] ?? restColour);

export const sumOf = ({ values }: PlotPoint): number => Object.values(values).reduce((sum, value) => sum + value, 0);

/** Keeps the largest series in order of size, and sums up the others as one more. */
export function largestSeries(
  series: readonly PlotSeries[],
  points: readonly PlotPoint[],
): { readonly series: readonly PlotSeries[]; readonly points: readonly PlotPoint[] } {
  const totals = new Map(
    series.map(({ key }) => [key, points.reduce((sum, { values }) => sum + (values[key] ?? 0), 0)]),
  );
  const ordered = series.toSorted((one, other) => (totals.get(other.key) ?? 0) - (totals.get(one.key) ?? 0));
  if (ordered.length <= maxSeries) return { series: ordered, points };
  const shown = ordered.slice(0, maxSeries - 1);
  const rest = ordered.slice(maxSeries - 1);
  return {
    series: [...shown, { key: restKey, name: `${rest.length} others` }],
    points: points.map(({ label, values }) => ({
      label,
      values: {
        ...Object.fromEntries(shown.map(({ key }) => [key, values[key] ?? 0])),
        [restKey]: rest.reduce((sum, { key }) => sum + (values[key] ?? 0), 0),
      },
    })),
  };
}
