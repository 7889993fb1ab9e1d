import { runtimeKinds } from '@lodge/contract/words';
import { Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { ComponentProps } from 'react';
import type { Agent } from '@lodge/sdk';
import { runtimeNames } from '../../components/words/agent-words.ts';
import { cx } from '../../components/cx.ts';
import { controlClass } from '../../components/form/field.tsx';
import { statusOf } from '../agent/status.ts';
import type { AgentsView, ChangeView, Direction, SortKey } from './view.ts';
import { sortKeys, statuses, usedLabels, usualDirection } from './view.ts';

/** More labels than this are found by typing. */
const maxLabels = 100;

const sortWords: Readonly<Record<SortKey, readonly [up: string, down: string]>> = {
  created: ['Oldest first', 'Newest first'],
  name: ['Name, A to Z', 'Name, Z to A'],
  status: ['Status, running first', 'Status, running last'],
  model: ['Model, A to Z', 'Model, Z to A'],
  active: ['Longest idle first', 'Last active first'],
  spend: ['Smallest spend first', 'Largest spend first'],
};

interface FiltersProps {
  readonly agents: readonly Agent[];
  readonly view: AgentsView;
  readonly change: ChangeView;
}

/** The filters of the list: all of them are in the page's address. */
export function Filters({ agents, view, change }: FiltersProps) {
  const labels = usedLabels(agents).slice(0, maxLabels);
  if (view.label !== undefined && !labels.includes(view.label)) labels.unshift(view.label);
  const count = (status: Agent['status']): number => agents.filter((agent) => agent.status === status).length;
  return (
    <search className="grid grid-cols-2 gap-2 sm:flex sm:flex-wrap">
      <SearchBox key="search" view={view} change={change} />
      <Choice label="Status" value={view.status} choose={(status) => change({ ...view, status })}>
        <option value="">Any status</option>
        {statuses.map((status) => (
          <option key={status} value={status}>
            {`${statusOf({ status, transition: null }).label} (${count(status)})`}
          </option>
        ))}
      </Choice>
      <Choice label="Runtime" value={view.runtime} choose={(runtime) => change({ ...view, runtime })}>
        <option value="">Any runtime</option>
        {runtimeKinds.map((kind) => (
          <option key={kind} value={kind}>
            {runtimeNames[kind]}
          </option>
        ))}
      </Choice>
      {labels.length > 0 && (
        <Choice label="Label" value={view.label} choose={(label) => change({ ...view, label })}>
          <option value="">Any label</option>
          {labels.map((label) => (
            <option key={label} value={label}>
              {label}
            </option>
          ))}
        </Choice>
      )}
      <SortChoice view={view} change={change} />
    </search>
  );
}

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly value: Value | undefined;
  readonly choose: (value: Value | undefined) => void;
  readonly className?: string;
  readonly children: ComponentProps<'select'>['children'];
}

function Choice<Value extends string>({ label, value, choose, className, children }: ChoiceProps<Value>) {
  return (
    <select
      aria-label={label}
      value={value ?? ''}
      onChange={(event) => choose((event.target.value || undefined) as Value | undefined)}
      className={cx(controlClass, 'truncate px-2 sm:w-40', value !== undefined && 'border-accent', className)}
    >
      {children}
    </select>
  );
}

/** The order, where the columns' headings cannot be pressed: on narrow screens. */
function SortChoice({ view, change }: Omit<FiltersProps, 'agents'>) {
  const sort = view.sort ?? 'created';
  const value = `${sort}.${view.dir ?? usualDirection(sort)}`;
  const choose = (chosen: string | undefined): void => {
    const [key, dir] = (chosen ?? 'created.desc').split('.') as [SortKey, Direction];
    change({
      ...view,
      sort: key === 'created' && dir === 'desc' ? undefined : key,
      dir: dir === usualDirection(key) ? undefined : dir,
    });
  };
  return (
    <Choice label="Order" value={value} choose={choose} className="border-control! md:hidden">
      {sortKeys.flatMap((key) => [
        <option key={`${key}.asc`} value={`${key}.asc`}>
          {sortWords[key][0]}
        </option>,
        <option key={`${key}.desc`} value={`${key}.desc`}>
          {sortWords[key][1]}
        </option>,
      ])}
    </Choice>
  );
}

function SearchBox({ view, change }: Omit<FiltersProps, 'agents'>) {
  const [typed, setTyped] = useState(view.q ?? '');
  /** Typed and on their way into the address, oldest first. */
  const sent = useRef<string[]>([]);
  useEffect(() => {
    const at = sent.current.indexOf(view.q ?? '');
    if (at >= 0) sent.current.splice(0, at + 1);
    // The address changed without the box: by Back, or because all agents are to be shown.
    else setTyped(view.q ?? '');
  }, [view.q]);
  return (
    <div className="relative col-span-2 grow sm:max-w-80 sm:min-w-56">
      <Search aria-hidden className="pointer-events-none absolute inset-y-0 left-3 my-auto size-4 text-muted" />
      <input
        type="search"
        aria-label="Search agents"
        placeholder="Name, id, model or label"
        maxLength={200}
        spellCheck={false}
        autoComplete="off"
        value={typed}
        onBlur={() => {
          sent.current = [];
        }}
        onChange={({ target: { value } }) => {
          setTyped(value);
          sent.current.push(value);
          change({ ...view, q: value });
        }}
        className={cx(controlClass, 'pl-9')}
      />
    </div>
  );
}
