import { publicEvents } from '@lodge/contract/event-words';
import { useState } from 'react';
import { OptionList } from '../../components/form/option-list.tsx';

/** Types of events by their first word. */
const families = Map.groupBy(publicEvents, ([type]) => type.split('.', 1)[0]!);

/** A pattern that this page does not offer, which an edit must not lose. */
const isUnlisted = (pattern: string): boolean =>
  pattern !== '*' && !publicEvents.has(pattern as never) && !families.has(pattern.slice(0, -'.*'.length));

interface EventsFieldProps {
  readonly initial: readonly string[];
  readonly error: string | undefined;
}

/** A choice of event types: all, families, and types of their own. The form's field is `events`. */
export function EventsField({ initial, error }: EventsFieldProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => new Set(initial));
  const toggle = (pattern: string): void => {
    setChosen((before) => {
      const next = new Set(before);
      if (!next.delete(pattern)) next.add(pattern);
      return next;
    });
  };
  const isAll = chosen.has('*');
  return (
    <OptionList
      legend="Events"
      error={error}
      scrolls
      hidden={[...chosen].filter(isUnlisted).map((pattern) => (
        <input key={pattern} type="hidden" name="events" value={pattern} />
      ))}
    >
      <Choice name="*" meaning="Everything, also what comes later." isOn={isAll} onToggle={() => toggle('*')} />
      {[...families].map(([family, types]) => (
        <Family key={family} {...{ family, types, chosen, toggle }} isCovered={isAll} />
      ))}
    </OptionList>
  );
}

interface FamilyProps {
  readonly family: string;
  readonly types: readonly (readonly [string, string])[];
  readonly chosen: ReadonlySet<string>;
  readonly toggle: (pattern: string) => void;
  readonly isCovered: boolean;
}

function Family({ family, types, chosen, toggle, isCovered }: FamilyProps) {
  const all = `${family}.*`;
  const hasAll = isCovered || chosen.has(all);
  const some = types.filter(([type]) => chosen.has(type)).length;
  return (
    <div>
      <Choice
        name={all}
        meaning={some > 0 && !hasAll ? `${some} of ${types.length} types` : `All ${types.length} types of this family`}
        isOn={hasAll}
        isFixed={isCovered}
        onToggle={() => toggle(all)}
      />
      <details className="pb-1.5 pl-8">
        <summary className="px-2 py-1 text-[0.8125rem] text-muted hover:text-ink">Types of {family}</summary>
        {types.map(([type, meaning]) => (
          <Choice
            key={type}
            name={type}
            meaning={meaning.replaceAll('`', '')}
            isOn={hasAll || chosen.has(type)}
            isFixed={hasAll}
            onToggle={() => toggle(type)}
          />
        ))}
      </details>
    </div>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly meaning: string;
  readonly isOn: boolean;
  /** Covered by a wider choice. */
  readonly isFixed?: boolean;
  readonly onToggle: () => void;
}

function Choice({ name, meaning, isOn, isFixed = false, onToggle }: ChoiceProps) {
  return (
    <label className="flex cursor-pointer gap-3 px-3.5 py-2 hover:bg-hover has-disabled:cursor-default has-disabled:hover:bg-transparent">
      <input
        type="checkbox"
        name="events"
        value={name}
        checked={isOn}
        disabled={isFixed}
        onChange={onToggle}
        className="mt-0.5 size-4 shrink-0 accent-accent"
      />
      <span className="flex min-w-0 flex-col gap-0.5">
        <span className="font-mono text-[0.8125rem] font-medium">{name}</span>
        <span className="text-[0.8125rem] text-muted">{meaning}</span>
      </span>
    </label>
  );
}

/** The chosen patterns of a form; what a wider choice covers is disabled, and so not among them. */
export const eventsOf = (data: FormData): string[] =>
  data.getAll('events').filter((value) => typeof value === 'string');
