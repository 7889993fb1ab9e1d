import { ArrowUp, Plus, X } from 'lucide-react';
import { useId } from 'react';
import { Button, IconButton } from '../../../components/button.tsx';
import { cx } from '../../../components/cx.ts';
import { controlClass } from '../../../components/form/field.tsx';
import type { AskRule, Policy } from './ask.ts';

export const policies: readonly (readonly [value: Policy, words: string])[] = [
  ['allow', 'Allow'],
  ['ask', 'Ask'],
  ['deny', 'Deny'],
];

const maxRules = 100;

interface RulesFieldProps {
  readonly rules: readonly AskRule[];
  readonly change: (rules: readonly AskRule[]) => void;
  /** Words that are offered for `on`. */
  readonly subjects: readonly string[];
  readonly readOnly: boolean;
  readonly error: string | undefined;
}

/** Rules in their order, as the first one that fits counts. */
export function RulesField({ rules, change, subjects, readOnly, error }: RulesFieldProps) {
  const id = useId();
  return (
    <fieldset aria-describedby={`${id}-note`} className="flex min-w-0 flex-col gap-1.5">
      <legend className="mb-1.5 font-medium">Rules</legend>
      <datalist id={`${id}-subjects`}>
        {subjects.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      {rules.length > 0 && (
        <ol className="flex flex-col gap-2">
          {rules.map((rule, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- a rule has no other identity while it is typed
            <RuleRow
              key={index}
              name={`rule ${index + 1}`}
              rule={rule}
              list={`${id}-subjects`}
              readOnly={readOnly}
              isWrong={error?.startsWith(`Rule ${index + 1} `) === true}
              change={(next) => change(rules.with(index, next))}
              remove={() => change(rules.toSpliced(index, 1))}
              raise={index === 0 ? undefined : () => change(rules.toSpliced(index - 1, 2, rule, rules[index - 1]!))}
            />
          ))}
        </ol>
      )}
      {!readOnly && rules.length < maxRules && (
        <Button small onClick={() => change([...rules, ['', '*', 'ask']])} className="self-start">
          <Plus aria-hidden className="size-3.5" />
          Add rule
        </Button>
      )}
      <p id={`${id}-note`} className={cx('text-[0.8125rem]', error === undefined ? 'text-muted' : 'text-danger')}>
        {error ?? 'The first one that fits counts. A star stands for any characters.'}
      </p>
    </fieldset>
  );
}

interface RuleRowProps {
  readonly name: string;
  readonly rule: AskRule;
  readonly list: string;
  readonly readOnly: boolean;
  readonly isWrong: boolean;
  readonly change: (rule: AskRule) => void;
  readonly remove: () => void;
  /** Undefined: it is the first one. */
  readonly raise: (() => void) | undefined;
}

function RuleRow({ name, rule, list, readOnly, isWrong, change, remove, raise }: RuleRowProps) {
  const [on, match, policy] = rule;
  const plain = { readOnly, spellCheck: false, autoComplete: 'off', autoCapitalize: 'none' };
  const look = cx(controlClass, 'read-only:bg-sunken');
  return (
    <li className="flex flex-wrap items-center gap-2">
      <input
        {...plain}
        list={list}
        aria-label={`Subject of ${name}`}
        aria-invalid={isWrong || undefined}
        maxLength={80}
        placeholder="connection:shop"
        value={on}
        onChange={(event) => change([event.target.value, match, policy])}
        className={cx(look, 'min-w-40 basis-1/4 grow')}
      />
      <input
        {...plain}
        aria-label={`Pattern of ${name}`}
        maxLength={512}
        placeholder="POST /v1/refunds*"
        value={match}
        onChange={(event) => change([on, event.target.value, policy])}
        className={cx(look, 'min-w-40 basis-1/4 grow font-mono text-[0.8125rem]!')}
      />
      <select
        aria-label={`Policy of ${name}`}
        value={policy}
        onChange={(event) => change([on, match, event.target.value as Policy])}
        className={cx(controlClass, 'w-24! shrink-0 px-2')}
      >
        {policies.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
      {!readOnly && (
        <span className="flex">
          <IconButton
            label={`Move ${name} up`}
            onClick={raise}
            disabled={raise === undefined}
            className="disabled:opacity-40"
          >
            <ArrowUp aria-hidden className="size-4" />
          </IconButton>
          <IconButton label={`Remove ${name}`} onClick={remove}>
            <X aria-hidden className="size-4" />
          </IconButton>
        </span>
      )}
    </li>
  );
}
