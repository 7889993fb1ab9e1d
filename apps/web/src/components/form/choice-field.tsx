import type { ReactNode } from 'react';
import { OptionList } from './option-list.tsx';

export interface Choice<Value extends string> {
  readonly value: Value;
  readonly label: string;
  readonly meaning?: ReactNode;
}

interface ChoiceProps<Value extends string> {
  readonly legend: string;
  readonly name: string;
  readonly choices: readonly Choice<Value>[];
  readonly value?: Value;
  readonly defaultValue?: Value;
  readonly onChoose?: (value: Value) => void;
  readonly disabled?: boolean;
  readonly error?: string | undefined;
}

/** One of a few choices, each with its meaning beside it. */
export function ChoiceField<Value extends string>(props: ChoiceProps<Value>) {
  const { legend, name, choices, value, defaultValue, onChoose, disabled = false, error } = props;
  return (
    <OptionList legend={legend} disabled={disabled} error={error}>
      {choices.map((choice) => (
        <label
          key={choice.value}
          className="flex gap-3 px-3.5 py-2.5 has-checked:bg-accent-soft has-enabled:cursor-pointer has-enabled:hover:bg-hover has-checked:has-enabled:hover:bg-accent-soft"
        >
          <input
            type="radio"
            name={name}
            value={choice.value}
            {...(value === undefined
              ? { defaultChecked: choice.value === defaultValue }
              : { checked: choice.value === value })}
            onChange={() => onChoose?.(choice.value)}
            className="mt-0.5 size-4 shrink-0 accent-accent"
          />
          <span className="flex min-w-0 flex-col gap-0.5">
            <span className="font-medium">{choice.label}</span>
            {choice.meaning !== undefined && <span className="text-[0.8125rem] text-muted">{choice.meaning}</span>}
          </span>
        </label>
      ))}
    </OptionList>
  );
}
