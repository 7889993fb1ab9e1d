import type { LogEntry } from '@lodge/sdk';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { memo, useMemo } from 'react';
import { cx } from '../../../components/cx.ts';
import { visibleLogText } from '../../../components/words/visible-text.ts';
import { formatDateTime } from '../../../format.ts';
import { Marked } from './marked.tsx';
import { clockTime, shortDate } from './log-times.ts';

/** A collapsed row shows no more than fits the widest screen. */
const collapsedCharacters = 600;

const levelLooks = {
  debug: 'text-muted',
  info: 'text-muted',
  warn: 'text-warn',
  error: 'text-danger',
} as const;

interface RowProps {
  readonly entry: LogEntry;
  readonly open: boolean;
  readonly search: string;
  readonly toggle: (id: string) => void;
}

/** One line of the log. A long one, or one of several lines, opens. */
export const LogRow = memo(function LogRow({ entry, open, search, toggle }: RowProps) {
  const text = useMemo(() => visibleLogText(entry.message).trimEnd(), [entry.message]);
  const isLong = text.length > 100 || text.includes('\n');
  const shown = open ? text : text.slice(0, collapsedCharacters).replaceAll('\n', ' ⏎ ');
  const at = new Date(entry.timestamp);
  const Icon = open ? ChevronDown : ChevronRight;
  return (
    <div
      className={cx(
        'flex gap-x-2.5 py-0.5 pr-3 pl-1 hover:bg-hover',
        entry.level === 'error' && 'bg-danger-soft/60',
        entry.level === 'warn' && 'bg-warn-soft/60',
      )}
    >
      {isLong ? (
        <button
          type="button"
          aria-label={open ? 'Show this line shorter' : 'Show the whole line'}
          aria-expanded={open}
          // The keyboard has the switch that wraps all lines: a stop at each line would be in its way.
          tabIndex={-1}
          onClick={() => toggle(entry.id)}
          className="flex size-5 shrink-0 items-center justify-center rounded text-muted hover:text-ink"
        >
          <Icon aria-hidden className="size-3.5" />
        </button>
      ) : (
        <span className="w-5 shrink-0" />
      )}
      <time dateTime={entry.timestamp} title={formatDateTime(at)} className="shrink-0 text-muted">
        <span className="max-lg:hidden">{shortDate(at)} </span>
        {clockTime(at)}
      </time>
      <span className={cx('w-10 shrink-0 uppercase max-sm:hidden', levelLooks[entry.level])}>{entry.level}</span>
      <span className={cx('w-2 shrink-0 uppercase sm:hidden', levelLooks[entry.level])}>
        <abbr title={entry.level} className="no-underline">
          {entry.level.slice(0, 1)}
        </abbr>
      </span>
      <span className="w-15 shrink-0 text-muted max-md:hidden">{entry.source}</span>
      <bdi className={cx('min-w-0 grow', open ? 'whitespace-pre-wrap wrap-anywhere' : 'truncate whitespace-pre')}>
        <Marked text={shown} part={search} />
      </bdi>
    </div>
  );
});
