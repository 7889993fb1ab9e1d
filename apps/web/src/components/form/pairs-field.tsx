import { Plus, X } from 'lucide-react';
import { useId, useRef } from 'react';
import type { ReactNode } from 'react';
import { Button, IconButton } from '../button.tsx';
import { cx } from '../cx.ts';
import { controlClass } from './field.tsx';

/** A name and a value, as typed. */
export type Pair = readonly [name: string, value: string];

interface PairsFieldProps {
  readonly legend: string;
  /** The legend is only read out: a heading beside it says the same. */
  readonly isTitled?: boolean;
  readonly hint?: ReactNode;
  /** One pair in words: `label`. */
  readonly noun: string;
  readonly pairs: readonly Pair[];
  readonly change: (pairs: readonly Pair[]) => void;
  readonly error?: string | undefined;
  readonly maxValue: number;
  readonly placeholder?: Pair | undefined;
  readonly readOnly?: boolean;
}

const maxPairs = 50;

/** Pairs of short texts: labels or notes. */
export function PairsField(props: PairsFieldProps) {
  const { legend, isTitled = false, hint, noun, pairs, change, error, maxValue, placeholder, readOnly = false } = props;
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const add = (): void => {
    change([...pairs, ['', '']]);
    requestAnimationFrame(() => list.current?.querySelector<HTMLInputElement>('li:last-child input')?.focus());
  };
  return (
    <fieldset aria-describedby={`${id}-note`} className="flex min-w-0 flex-col gap-1.5">
      <legend className={isTitled ? 'sr-only' : 'mb-1.5 font-medium'}>{legend}</legend>
      {pairs.length > 0 && (
        <ul ref={list} className="flex flex-col gap-2">
          {pairs.map((pair, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- a pair has no other identity while it is typed
            <PairRow
              key={index}
              name={`${noun} ${index + 1}`}
              pair={pair}
              change={(next) => change(next === null ? pairs.toSpliced(index, 1) : pairs.with(index, next))}
              {...{ maxValue, placeholder, readOnly }}
            />
          ))}
        </ul>
      )}
      {!readOnly && pairs.length < maxPairs && (
        <Button small onClick={add} className="self-start">
          <Plus aria-hidden className="size-3.5" />
          Add {noun}
        </Button>
      )}
      <p id={`${id}-note`} className={cx('text-[0.8125rem]', error === undefined ? 'text-muted' : 'text-danger')}>
        {error ?? hint}
      </p>
    </fieldset>
  );
}

interface PairRowProps extends Pick<PairsFieldProps, 'maxValue' | 'placeholder'> {
  readonly name: string;
  readonly pair: Pair;
  /** Null removes it. */
  readonly change: (pair: Pair | null) => void;
  readonly readOnly: boolean;
}

function PairRow({ name, pair, change, maxValue, placeholder, readOnly }: PairRowProps) {
  const [left, right] = pair;
  const looks = cx(controlClass, 'read-only:bg-sunken');
  const plain = { readOnly, spellCheck: false, autoComplete: 'off', autoCapitalize: 'none' };
  return (
    <li className="flex items-center gap-2">
      <input
        {...plain}
        aria-label={`Name of ${name}`}
        value={left}
        maxLength={64}
        placeholder={placeholder?.[0]}
        onChange={(event) => change([event.target.value, right])}
        className={cx(looks, 'basis-2/5')}
      />
      <span aria-hidden className="text-muted">
        =
      </span>
      <input
        {...plain}
        aria-label={`Value of ${name}`}
        value={right}
        maxLength={maxValue}
        placeholder={placeholder?.[1]}
        onChange={(event) => change([left, event.target.value])}
        className={cx(looks, 'grow')}
      />
      {!readOnly && (
        <IconButton label={`Remove ${name}`} onClick={() => change(null)}>
          <X aria-hidden className="size-4" />
        </IconButton>
      )}
    </li>
  );
}

/** The pairs whose name is not empty, as a record. */
export const recordOf = (pairs: readonly Pair[]): Record<string, string> =>
  Object.fromEntries(
    pairs.map(([name, value]) => [name.trim(), value.trim()] as const).filter(([name]) => name !== ''),
  );

export const pairsOf = (record: Readonly<Record<string, string>>): readonly Pair[] => Object.entries(record);

/** Returns what is wrong with labels, as the API would say it. */
export function labelsProblem(pairs: readonly Pair[]): string | undefined {
  const names = pairs.map(([name]) => name.trim()).filter((name) => name !== '');
  if (pairs.some(([name, value]) => name.trim() === '' && value.trim() !== '')) return 'Each label needs a name.';
  const wrong = names.find((name) => name.length > 63 || !/^[a-z0-9][a-z0-9._/-]*$/.test(name) || /[._/-]$/.test(name));
  if (wrong !== undefined)
    return `The name “${wrong}” may have lower case letters and digits, and between them dots, hyphens, slashes and underscores.`;
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? undefined : `The label “${twice}” is there twice.`;
}
