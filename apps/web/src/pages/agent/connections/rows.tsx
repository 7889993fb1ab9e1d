import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useKeptText } from '../../../components/form/form.tsx';
import { Button, IconButton } from '../../../components/button.tsx';

/** Rows of a form that are added and taken away; each has a number of its own for its fields' names. */
export function useRows(count: number, field: string) {
  const kept = useKeptText()?.fields ?? [];
  const [rows, setRows] = useState(() => keptRows(kept, field) ?? Array.from({ length: count }, (_, row) => row));
  const [next, setNext] = useState(() => Math.max(count, ...rows.map((row) => row + 1)));
  return {
    rows,
    add: () => {
      setRows([...rows, next]);
      setNext(next + 1);
    },
    remove: (row: number) => setRows(rows.filter((one) => one !== row)),
  };
}

/** The rows of a form whose text of before is put back. `field` is in each of them. */
function keptRows(fields: readonly { readonly name: string }[], field: string): number[] | null {
  const rows = fields
    .filter(({ name }) => name.startsWith(`${field}_`))
    .map(({ name }) => Number(name.slice(field.length + 1)))
    .filter((row) => Number.isSafeInteger(row));
  return rows.length === 0 ? null : rows;
}

interface RowsProps {
  readonly legend: string;
  readonly what: string;
  readonly hint: ReactNode;
  readonly rows: ReturnType<typeof useRows>;
  readonly least: number;
  readonly most: number;
  readonly children: (row: number, index: number) => ReactNode;
}

export function Rows({ legend, what, hint, rows: { rows, add, remove }, least, most, children }: RowsProps) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-3">
      <legend className="font-medium">{legend}</legend>
      <p className="text-[0.8125rem] text-muted">{hint}</p>
      {rows.map((row, index) => (
        <div key={row} className="flex items-start gap-2 rounded-control border border-line p-3">
          <div className="min-w-0 grow">{children(row, index)}</div>
          {rows.length > least && (
            <IconButton label={`Take ${what} ${index + 1} away`} onClick={() => remove(row)}>
              <X aria-hidden className="size-4" />
            </IconButton>
          )}
        </div>
      ))}
      {rows.length < most && (
        <div>
          <Button small onClick={add}>
            <Plus aria-hidden className="size-4" />
            {rows.length === 0 ? `Add a ${what}` : `Add another ${what}`}
          </Button>
        </div>
      )}
    </fieldset>
  );
}
