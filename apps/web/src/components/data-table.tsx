import type { ReactNode } from 'react';
import { cx } from './cx.ts';

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Marks the column of buttons. Its header is only read out, and it closes the row. */
  readonly actions?: boolean;
}

interface TableProps<Row> {
  readonly label: string;
  /** The columns; the first one names the row. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly dimmed?: (row: Row) => boolean;
}

/**
 * A table. On a narrow screen each row becomes a block of labelled lines. The roles are written out, because a browser may
 * drop them for table parts with another display.
 */
export function DataTable<Row>({ label, columns, rows, keyOf, dimmed }: TableProps<Row>) {
  return (
    <table role="table" aria-label={label} className="w-full max-md:block">
      <thead role="rowgroup" className="max-md:sr-only">
        <tr role="row" className="border-b border-line text-left text-[0.8125rem] text-muted">
          {columns.map(({ header, actions }) => (
            <th
              key={header}
              role="columnheader"
              scope="col"
              className="px-3 py-2.5 font-medium whitespace-nowrap first:pl-6 last:pr-6"
            >
              {actions === true ? <span className="sr-only">{header}</span> : header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup" className="divide-y divide-line max-md:block">
        {rows.map((row) => (
          <tr
            key={keyOf(row)}
            role="row"
            className="align-top max-md:flex max-md:flex-col max-md:gap-1.5 max-md:px-5 max-md:py-4"
          >
            {columns.map((column, index) => (
              <Cell key={column.header} column={column} named={index === 0} dim={dimmed?.(row) ?? false}>
                {column.cell(row)}
              </Cell>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface CellProps<Row> {
  readonly column: Column<Row>;
  readonly named: boolean;
  readonly dim: boolean;
  readonly children: ReactNode;
}

function Cell<Row>({ column, named, dim, children }: CellProps<Row>) {
  const look = cx(
    'px-3 py-3.5 text-left first:pl-6 last:pr-6 max-md:p-0! max-md:flex',
    named ? 'font-medium max-md:text-base md:min-w-44' : 'max-md:gap-3',
    dim && 'text-muted',
    column.actions === true && 'text-right max-md:pt-2!',
  );
  if (named) {
    return (
      <th role="rowheader" scope="row" className={look}>
        {children}
      </th>
    );
  }
  return (
    <td role="cell" className={look}>
      {column.actions !== true && (
        <span aria-hidden className="w-24 shrink-0 text-muted md:hidden">
          {column.header}
        </span>
      )}
      {children}
    </td>
  );
}
