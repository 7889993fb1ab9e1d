import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { Agent } from '@lodge/sdk';
import { cx } from '../../components/cx.ts';
import { Skeleton } from '../../components/states.tsx';
import { AgentRow, gridClass } from './agent-row.tsx';
import type { Selection } from './selection.ts';
import type { AgentsView, ChangeView, SortKey } from './view.ts';
import { usualDirection } from './view.ts';

/** Heights of a row and of a card, as the classes of `AgentRow` have them. */
const rowPx = 60;
const cardPx = 132;
const narrow = '(max-width: 47.99rem)';

const subscribeNarrow = (changed: () => void): (() => void) => {
  const query = matchMedia(narrow);
  query.addEventListener('change', changed);
  return () => query.removeEventListener('change', changed);
};
const useIsNarrow = (): boolean => useSyncExternalStore(subscribeNarrow, () => matchMedia(narrow).matches);

export interface GridProps {
  readonly agents: readonly Agent[];
  /** By the agent's id; undefined while it loads, null where it cannot be read. */
  readonly spend: ReadonlyMap<string, string> | null | undefined;
  readonly view: AgentsView;
  readonly change: ChangeView;
  /** Null for people who only read. */
  readonly selection: Selection | null;
}

/** All agents, of which only the rows on the screen are in the page. */
export function AgentGrid({ agents, spend, view, change, selection }: GridProps) {
  const body = useRef<HTMLDivElement>(null);
  const isNarrow = useIsNarrow();
  const [scrollMargin, setScrollMargin] = useState(0);
  useLayoutEffect(() => {
    const top = (body.current?.getBoundingClientRect().top ?? 0) + window.scrollY;
    setScrollMargin(Math.round(top));
  }, [isNarrow, agents.length]);
  const height = isNarrow ? cardPx : rowPx;
  const rows = useWindowVirtualizer({
    count: agents.length,
    estimateSize: () => height,
    overscan: 8,
    scrollMargin,
    getItemKey: (index) => agents[index]!.id,
  });
  useLayoutEffect(() => rows.measure(), [rows, height]);
  return (
    <div role="table" aria-label="Agents" aria-rowcount={agents.length + 1}>
      <Header view={view} change={change} selection={selection} count={agents.length} />
      <div ref={body} role="rowgroup" className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const agent = agents[index]!;
          return (
            <AgentRow
              key={agent.id}
              agent={agent}
              index={index}
              offset={start - scrollMargin}
              spend={spend === undefined || spend === null ? spend : (spend.get(agent.id) ?? '0')}
              isChosen={selection === null ? null : selection.ids.has(agent.id)}
              toggle={selection?.toggle}
            />
          );
        })}
      </div>
    </div>
  );
}

interface HeaderProps extends Pick<GridProps, 'view' | 'change' | 'selection'> {
  readonly count: number;
}

function Header({ view, change, selection, count }: HeaderProps) {
  const sorted = { view, change };
  const chosen = selection?.chosen.length ?? 0;
  return (
    <div role="rowgroup" className="border-b border-line max-md:px-4 max-md:py-2.5">
      <div
        role="row"
        aria-rowindex={1}
        className={cx('items-center text-[0.8125rem] text-muted md:h-11', gridClass(selection !== null))}
      >
        {selection !== null && (
          <span role="columnheader" className="flex items-center">
            <label className="flex items-center gap-2.5">
              <input
                type="checkbox"
                aria-label="Select all shown agents"
                checked={chosen > 0 && chosen === count}
                ref={(box) => {
                  if (box) box.indeterminate = chosen > 0 && chosen < count;
                }}
                onChange={selection.toggleAll}
                className="size-4 accent-accent"
              />
              <span aria-hidden className="md:hidden">
                Select all
              </span>
            </label>
          </span>
        )}
        <Heading sort="name" {...sorted}>
          Name
        </Heading>
        <Heading sort="status" {...sorted}>
          Status
        </Heading>
        <Heading sort="model" {...sorted}>
          Model
        </Heading>
        <span role="columnheader" className="font-medium max-md:sr-only max-lg:hidden">
          Machine
        </span>
        <Heading sort="active" {...sorted}>
          Last active
        </Heading>
        <Heading sort="spend" isAmount {...sorted}>
          Spend this month
        </Heading>
      </div>
    </div>
  );
}

interface HeadingProps extends Pick<GridProps, 'view' | 'change'> {
  readonly sort: SortKey;
  readonly isAmount?: boolean;
  readonly children: string;
}

function Heading({ sort, view, change, isAmount = false, children }: HeadingProps) {
  const direction = view.sort === sort ? (view.dir ?? usualDirection(sort)) : null;
  const next = (): void => {
    if (direction === null) change({ ...view, sort, dir: undefined });
    else if (direction === usualDirection(sort)) change({ ...view, sort, dir: direction === 'asc' ? 'desc' : 'asc' });
    else change({ ...view, sort: undefined, dir: undefined });
  };
  const Icon = direction === 'asc' ? ArrowUp : ArrowDown;
  return (
    <span
      role="columnheader"
      aria-sort={direction === null ? 'none' : direction === 'asc' ? 'ascending' : 'descending'}
      className={cx('max-md:sr-only', isAmount && 'text-right')}
    >
      <button
        type="button"
        onClick={next}
        className={cx(
          'inline-flex items-center gap-1 rounded px-1 py-1 font-medium whitespace-nowrap hover:text-ink',
          isAmount ? '-mr-1' : '-ml-1',
          direction !== null && 'text-ink',
        )}
      >
        {children}
        {direction !== null && <Icon aria-hidden className="size-3.5" />}
      </button>
    </span>
  );
}

/** Placeholder of the list while its first page loads. */
export function GridSkeleton() {
  return (
    <div className="flex flex-col gap-3">
      <Skeleton className="h-9 w-full max-w-2xl rounded-control" />
      <Skeleton className="w-20" />
      <div role="status" className="divide-y divide-line rounded-card border border-line bg-surface shadow-card">
        <span className="sr-only">Loading…</span>
        <div className="h-11" />
        {Array.from({ length: 8 }, (_, row) => (
          <div key={row} className="flex h-15 items-center gap-6 px-6 max-md:h-33">
            <div className="flex grow flex-col gap-2">
              <Skeleton className="w-40 max-w-full" />
              <Skeleton className="h-3 w-24 max-w-full" />
            </div>
            <Skeleton className="w-20" />
            <Skeleton className="w-32 max-md:hidden" />
            <Skeleton className="w-16 max-md:hidden" />
          </div>
        ))}
      </div>
    </div>
  );
}
