import type { Scope } from '@lodge/contract';
import { scopeSentences } from '../../scopes.ts';
import { OptionList } from './option-list.tsx';

interface ScopesFieldProps {
  readonly legend: string;
  readonly offered: readonly Scope[];
  /** Whether all are chosen at first. */
  readonly all?: boolean;
  readonly error: string | undefined;
}

/** A choice of scopes, each with its meaning; the form's field is `scopes`. */
export function ScopesField({ legend, offered, all = false, error }: ScopesFieldProps) {
  return (
    <OptionList legend={legend} error={error}>
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
    </OptionList>
  );
}

/** The chosen scopes of a form. */
export const scopesOf = (data: FormData): readonly Scope[] => data.getAll('scopes') as Scope[];
