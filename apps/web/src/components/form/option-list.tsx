import { useId } from 'react';
import type { ReactNode } from 'react';
import { cx } from '../cx.ts';

interface OptionListProps {
  readonly legend: ReactNode;
  readonly disabled?: boolean;
  readonly error?: string | undefined;
  /** Beside the box, for what belongs to the field and is not seen. */
  readonly hidden?: ReactNode;
  /** A list that may be long scrolls in itself. */
  readonly scrolls?: boolean;
  readonly children: ReactNode;
}

/** Options below one another in a box, with the legend above and the problem below. */
export function OptionList({ legend, disabled = false, error, hidden, scrolls = false, children }: OptionListProps) {
  const id = useId();
  return (
    <fieldset
      disabled={disabled}
      aria-describedby={error === undefined ? undefined : `${id}-error`}
      className="flex min-w-0 flex-col gap-1.5"
    >
      <legend className="mb-1.5 font-medium">{legend}</legend>
      {hidden}
      <div
        className={cx(
          'divide-y divide-line rounded-control border border-line',
          scrolls ? 'max-h-72 overflow-y-auto' : 'overflow-hidden',
        )}
      >
        {children}
      </div>
      {error !== undefined && (
        <p id={`${id}-error`} className="text-[0.8125rem] text-danger">
          {error}
        </p>
      )}
    </fieldset>
  );
}
