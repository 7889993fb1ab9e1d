import type { Scope } from '@lodge/contract';
import { useId } from 'react';
import { scopeSentences } from '../../scopes.ts';

interface ScopesFieldProps {
  readonly legend: string;
  readonly offered: readonly Scope[];
  /** Whether all are chosen at first. */
  readonly all?: boolean;
  readonly error: string | undefined;
}

/** A choice of scopes, each with its meaning; the form's field is `scopes`. */
export function ScopesField({ legend, offered, all = false, error }: ScopesFieldProps) {
  const id = useId();
  return (
    <fieldset className="flex flex-col gap-1.5" aria-describedby={error === undefined ? undefined : `${id}-error`}>
      <legend className="mb-1.5 font-medium">{legend}</legend>
      <div className="divide-y divide-line overflow-hidden rounded-control border border-line">
        {offered.map((scope) => (
          <label
            key={scope}
            className="flex cursor-pointer gap-3 px-3.5 py-2.5 hover:bg-hover has-checked:bg-accent-soft"
          >
            <input
              type="checkbox"
              name="scopes"
              value={scope}
              defaultChecked={all}
              className="mt-0.5 size-4 shrink-0 accent-accent"
            />
            <span className="flex flex-col gap-0.5">
              <span className="font-mono text-[0.8125rem] font-medium">{scope}</span>
              <span className="text-[0.8125rem] text-muted">{scopeSentences[scope]}</span>
            </span>
          </label>
        ))}
      </div>
      {error !== undefined && (
        <p id={`${id}-error`} className="text-[0.8125rem] text-danger">
          {error}
        </p>
      )}
    </fieldset>
  );
}

/** The chosen scopes of a form. */
export const scopesOf = (data: FormData): readonly Scope[] => data.getAll('scopes') as Scope[];
