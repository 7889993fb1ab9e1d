import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import type { Agent } from '@lodge/sdk';
import { runtimeNames, sizeNames } from '../../components/words/agent-words.ts';
import { cx } from '../../components/cx.ts';
import { Skeleton } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { formatUsd } from '../../format.ts';
import { StatusBadge } from '../agent/status-badge.tsx';
import { labelsOf } from './view.ts';

/** The columns of header and rows; on narrow screens a row is a card. */
export const gridClass = (isSelectable: boolean): string =>
  cx(
    'gap-x-4 md:grid md:px-5',
    isSelectable
      ? 'md:grid-cols-[1.25rem_minmax(9rem,2.2fr)_minmax(6rem,0.7fr)_minmax(7rem,1.4fr)_minmax(7.5rem,0.8fr)_minmax(7.5rem,0.8fr)] lg:grid-cols-[1.25rem_minmax(10rem,2.2fr)_minmax(6rem,0.7fr)_minmax(9rem,1.4fr)_minmax(6rem,0.8fr)_minmax(8rem,0.8fr)_minmax(7.5rem,0.8fr)]'
      : 'md:grid-cols-[minmax(9rem,2.2fr)_minmax(6rem,0.7fr)_minmax(7rem,1.4fr)_minmax(7.5rem,0.8fr)_minmax(7.5rem,0.8fr)] lg:grid-cols-[minmax(10rem,2.2fr)_minmax(6rem,0.7fr)_minmax(9rem,1.4fr)_minmax(6rem,0.8fr)_minmax(8rem,0.8fr)_minmax(7.5rem,0.8fr)]',
  );

interface RowProps {
  readonly agent: Agent;
  readonly index: number;
  /** Pixels from the top of the list. */
  readonly offset: number;
  readonly spend: string | null | undefined;
  /** Null where nothing can be chosen. */
  readonly isChosen: boolean | null;
  readonly toggle: ((id: string, range: boolean) => void) | undefined;
}

/** An agent as a row of 60 px, or on a narrow screen as a card of 132 px. */
export const AgentRow = memo(function AgentRow({ agent, index, offset, spend, isChosen, toggle }: RowProps) {
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      style={{ transform: `translateY(${offset}px)` }}
      className={cx(
        'absolute inset-x-0 top-0 h-33 border-b border-line last:border-b-0 hover:bg-hover md:h-15 md:items-center',
        'max-md:grid max-md:grid-cols-[auto_minmax(0,1fr)_auto] max-md:content-center max-md:gap-x-3 max-md:gap-y-1.5 max-md:px-4',
        gridClass(isChosen !== null),
        isChosen === true && 'bg-accent-soft hover:bg-accent-soft',
      )}
    >
      {isChosen !== null && (
        <span role="cell" className="flex items-center max-md:self-start max-md:pt-1">
          <input
            type="checkbox"
            aria-label={`Select ${agent.name}`}
            checked={isChosen}
            onChange={(event) => toggle?.(agent.id, (event.nativeEvent as MouseEvent).shiftKey)}
            className="size-4 accent-accent"
          />
        </span>
      )}
      <span role="rowheader" className={cx('flex min-w-0 flex-col gap-0.5', isChosen === null && 'max-md:col-span-2')}>
        <Link
          to="/agents/$agentId"
          params={{ agentId: agent.id }}
          className="truncate font-medium hover:underline max-md:text-base"
        >
          {agent.name}
        </Link>
        <Labels labels={labelsOf(agent)} id={agent.id} />
      </span>
      <span role="cell" className="min-w-0 max-md:self-start max-md:justify-self-end">
        <StatusBadge agent={agent} />
      </span>
      <Facts agent={agent} spend={spend} isSelectable={isChosen !== null} />
    </div>
  );
});

interface FactsProps extends Pick<RowProps, 'agent' | 'spend'> {
  readonly isSelectable: boolean;
}

/** The cells behind name and status; on a card, lines that begin where the name does. */
function Facts({ agent, spend, isSelectable }: FactsProps) {
  return (
    <>
      <span
        role="cell"
        className={cx(
          'min-w-0 max-md:text-[0.8125rem]',
          isSelectable ? 'max-md:col-span-2 max-md:col-start-2' : 'max-md:col-span-3',
        )}
        title={agent.model}
      >
        <Model name={agent.model} />
      </span>
      <span role="cell" className="flex min-w-0 flex-col text-muted max-lg:hidden">
        <span className="truncate">{runtimeNames[agent.runtime_kind]}</span>
        <span className="truncate text-xs">{sizeNames[agent.size]}</span>
      </span>
      <span
        role="cell"
        className={cx(
          'truncate max-md:text-[0.8125rem] max-md:text-muted',
          isSelectable ? 'max-md:col-start-2' : 'max-md:col-span-2',
        )}
      >
        <LastActive at={agent.last_active_at} />
      </span>
      <span role="cell" className="truncate text-right tabular-nums max-md:text-[0.8125rem] max-md:text-muted">
        <Spend usd={spend} />
        <span className="md:hidden"> this month</span>
      </span>
    </>
  );
}

/** Some runtimes' models are named with their provider, which stands below. */
function Model({ name }: { readonly name: string }) {
  const slash = name.indexOf('/');
  if (slash < 0) return <span className="block truncate">{name}</span>;
  return (
    <span className="flex min-w-0 flex-col max-md:flex-row-reverse max-md:justify-end max-md:gap-1.5">
      <span className="truncate">{name.slice(slash + 1)}</span>
      <span className="truncate text-xs text-muted max-md:shrink-0 max-md:leading-5">{name.slice(0, slash)}</span>
    </span>
  );
}

function LastActive({ at }: { readonly at: string | null }) {
  if (at === null) {
    return (
      <span className="text-muted">
        Never<span className="md:hidden"> active</span>
      </span>
    );
  }
  return (
    <>
      <span className="md:hidden">Active </span>
      <Time value={at} />
    </>
  );
}

function Spend({ usd }: { readonly usd: string | null | undefined }) {
  if (usd === undefined) return <Skeleton className="inline-block h-3 w-12" />;
  if (usd === null) return <span className="text-muted">Unknown</span>;
  if (Number(usd) === 0) return <span className="text-muted">{formatUsd('0')}</span>;
  return formatUsd(Number(usd) >= 1 ? Number(usd).toFixed(2) : usd);
}

/** As many as fit in one line; a label is somebody's text. */
const maxLabels = 4;

function Labels({ labels, id }: { readonly labels: readonly string[]; readonly id: string }) {
  if (labels.length === 0) return <span className="truncate font-mono text-xs text-muted">{id}</span>;
  return (
    <span className="flex min-w-0 gap-1 overflow-hidden" title={labels.join(', ').slice(0, 500)}>
      {labels.slice(0, maxLabels).map((label) => (
        <span key={label} className="max-w-40 truncate rounded bg-hover px-1.5 text-xs leading-4.5 text-muted">
          {label}
        </span>
      ))}
      {labels.length > maxLabels && (
        <span className="shrink-0 text-xs leading-4.5 text-muted">+{labels.length - maxLabels}</span>
      )}
    </span>
  );
}
