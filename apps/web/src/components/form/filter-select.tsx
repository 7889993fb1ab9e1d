import { cx } from '../cx.ts';

interface FilterSelectProps {
  readonly label: string;
  /** The words for no filter. */
  readonly all: string;
  readonly value: string | undefined;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onChange: (value: string | undefined) => void;
}

/** A choice that narrows a list. Its label is read out; the chosen words say enough to the eye. */
export function FilterSelect({ label, all, value, options, onChange }: FilterSelectProps) {
  return (
    <select
      aria-label={label}
      value={value ?? ''}
      onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.value)}
      className={cx(
        'h-9 max-w-full min-w-0 rounded-control border bg-surface px-2',
        value === undefined ? 'border-control/50' : 'border-accent font-medium text-accent',
      )}
    >
      <option value="">{all}</option>
      {options.map(([name, words]) => (
        <option key={name} value={name}>
          {words}
        </option>
      ))}
    </select>
  );
}
