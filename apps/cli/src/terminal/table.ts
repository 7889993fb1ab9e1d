/** Tables of a terminal's width. Cells are text of anybody: each is made one harmless line first. */
import { safeLine } from './safe.ts';
import { cut, padded, width } from './width.ts';

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number | null | undefined;
  readonly align?: 'right';
  /** This column is not cut before the others are, such as an id that somebody copies. */
  readonly keep?: true;
  /** The colour of a cell. It is asked for the row, and given the cell's text with its padding. */
  readonly paint?: (text: string, row: Row) => string;
}

export interface TableForm {
  /** Columns of the terminal; null in a pipe, where cells are parted by tabs and nothing is cut. */
  readonly columns: number | null;
  /** Makes a heading of a column's title. */
  readonly heading: (text: string) => string;
}

const gap = '  ';
const maxCellChars = 1000;
const minWidth = 4;

export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], form: TableForm): string {
  const cells = rows.map((row) => columns.map(({ value }) => safeLine(String(value(row) ?? '-'), maxCellChars)));
  if (form.columns === null) return cells.map((line) => `${line.join('\t')}\n`).join('');
  const widths = fitted(naturalWidths(cells, columns), columns, form.columns);
  const line = (texts: readonly string[], paint: (text: string, at: number) => string): string =>
    `${texts
      .map((text, at) => {
        const isLast = at === texts.length - 1 && columns[at]!.align === undefined;
        const short = cut(text, widths[at]!);
        return paint(isLast ? short : padded(short, widths[at]!, columns[at]!.align), at);
      })
      .join(gap)}\n`;
  const head = line(
    columns.map(({ title }) => title.toUpperCase()),
    form.heading,
  );
  const body = cells.map((texts, at) =>
    line(texts, (text, column) => columns[column]!.paint?.(text, rows[at]!) ?? text),
  );
  return head + body.join('');
}

function naturalWidths<Row>(cells: readonly (readonly string[])[], columns: readonly Column<Row>[]): number[] {
  const widths = columns.map(({ title }) => width(title));
  for (const line of cells) for (const [at, text] of line.entries()) widths[at] = Math.max(widths[at]!, width(text));
  return widths;
}

/** Narrows the widest columns until the whole fits, those to keep last. */
function fitted<Row>(natural: readonly number[], columns: readonly Column<Row>[], total: number): number[] {
  const widths = [...natural];
  let over = widths.reduce((sum, each) => sum + each, gap.length * (widths.length - 1)) - total;
  for (const isKept of [false, true]) {
    while (over > 0) {
      const order = widths.map((_, at) => at).filter((at) => (columns[at]!.keep === true) === isKept);
      order.sort((a, b) => widths[b]! - widths[a]!);
      const [first, second] = order;
      if (first === undefined || widths[first]! <= minWidth) break;
      const next = Math.max(minWidth, second === undefined ? minWidth : Math.min(widths[second]!, widths[first]! - 1));
      const less = Math.min(over, widths[first]! - next);
      widths[first] = widths[first]! - less;
      over -= less;
    }
  }
  return widths;
}

/** Returns names and values below each other, as `show` commands print them. The values are harmless lines. */
export function fields(
  pairs: readonly (readonly [name: string, value: string | null | undefined])[],
  form: TableForm,
): string {
  const shown = pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined && pair[1] !== null);
  if (form.columns === null) return shown.map(([name, value]) => `${name}\t${value}\n`).join('');
  const wide = Math.max(...shown.map(([name]) => width(name)));
  return shown.map(([name, value]) => `${form.heading(padded(name, wide))}${gap}${value}\n`).join('');
}
