import { useVirtualizer } from '@tanstack/react-virtual';
import type { LogEntry } from '@lodge/sdk';
import { ArrowDown } from 'lucide-react';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { buttonClass } from '../../../components/button.tsx';
import { cx } from '../../../components/cx.ts';
import { Skeleton } from '../../../components/states.tsx';
import { formatNumber } from '../../../format.ts';
import { isLater } from './log-buffer.ts';
import type { LogFeed, LogState } from './log-feed.ts';
import { LogRow } from './log-row.tsx';

const rowHeight = 24;
/** Pixels from the end within which the reader counts as at the end. */
const endPixels = 24;
/** Pixels from either end at which more lines are read. */
const readAheadPixels = 1200;
const maxCounted = 1000;

interface ListProps {
  readonly feed: LogFeed;
  readonly state: LogState;
  readonly wrap: boolean;
  readonly search: string;
}

/** The lines, of which only those on the screen are rendered. It stays at the end unless the reader scrolled away from it. */
export function LogList({ feed, state, wrap, search }: ListProps) {
  const { entries, startIndex, connection } = state;
  const box = useRef<HTMLDivElement>(null);
  const [seenId, setSeenId] = useState<string | null>(null);
  const getItemKey = useCallback((index: number) => entries[index]?.id ?? index, [entries]);
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    getItemKey,
    overscan: 10,
    anchorTo: 'end',
    followOnAppend: connection !== 'behind',
    scrollEndThreshold: endPixels,
  });
  useStart(box, virtual, startIndex);
  useReadAhead(box, feed, state);

  const onScroll = (): void => {
    const element = box.current;
    if (element === null) return;
    const toEnd = element.scrollHeight - element.scrollTop - element.clientHeight;
    // While later lines are unread, the end of the list is not the end of the log.
    if (toEnd <= endPixels && connection !== 'behind') setSeenId(null);
    else setSeenId((seen) => seen ?? entries.at(-1)?.id ?? null);
    if (element.scrollTop < readAheadPixels) void feed.loadOlder();
    if (toEnd < readAheadPixels) void feed.loadNewer();
  };

  return (
    <div className="relative min-h-0 grow">
      <div
        ref={box}
        role="log"
        aria-live="off"
        aria-label="Log lines"
        tabIndex={0}
        onScroll={onScroll}
        className="absolute inset-0 overflow-y-auto overscroll-contain font-mono text-xs leading-5 outline-offset-[-2px]"
      >
        <Rows virtual={virtual} state={state} wrap={wrap} search={search} />
      </div>
      {state.isLoadingOlder && (
        <p
          role="status"
          className="absolute inset-x-0 top-2 mx-auto w-fit rounded-full bg-raised px-3 py-1 text-xs text-muted shadow-float"
        >
          Loading older lines…
        </p>
      )}
      {seenId !== null && connection !== 'behind' && (
        <button
          type="button"
          onClick={() => virtual.scrollToEnd()}
          className={cx(buttonClass('secondary', true), 'absolute right-4 bottom-3 shadow-float')}
        >
          <ArrowDown aria-hidden className="size-3.5" />
          {newLines(entries, seenId)}
        </button>
      )}
    </div>
  );
}

type Virtual = ReturnType<typeof useVirtualizer<HTMLDivElement, Element>>;

/** The rows on the screen, and a few beyond it. */
function Rows({ virtual, state, wrap, search }: Omit<ListProps, 'feed'> & { readonly virtual: Virtual }) {
  const { isOpen, toggle } = useOpenRows(wrap);
  const { entries, startIndex } = state;
  return (
    <div className="relative w-full" style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map(({ index, key, start }) => {
        const entry = entries[index];
        return (
          entry !== undefined && (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className={cx('absolute inset-x-0 top-0', index === startIndex && 'border-t border-accent')}
              style={{ transform: `translateY(${start}px)` }}
            >
              <LogRow entry={entry} open={isOpen(entry.id)} search={search} toggle={toggle} />
            </div>
          )
        );
      })}
    </div>
  );
}

/** The rows that are open: all where lines are wrapped, but for those that were closed, and the other way round. */
function useOpenRows(wrap: boolean) {
  const [others, setOthers] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback((id: string): void => {
    setOthers((before) => {
      const after = new Set(before);
      if (!after.delete(id)) after.add(id);
      return after;
    });
  }, []);
  return { isOpen: (id: string): boolean => others.has(id) !== wrap, toggle };
}

/** Begins at the end, or at the time that the reader jumped to. */
function useStart(box: { readonly current: HTMLElement | null }, virtual: Virtual, startIndex: number | null): void {
  const hasBegun = useRef(false);
  const count = virtual.options.count;
  useLayoutEffect(() => {
    if (hasBegun.current || count === 0 || box.current === null) return;
    hasBegun.current = true;
    if (startIndex === null) virtual.scrollToEnd();
    else virtual.scrollToIndex(startIndex, { align: 'start' });
  }, [box, virtual, startIndex, count]);
}

/** Reads older lines while those that are there do not fill the box. */
function useReadAhead(box: { readonly current: HTMLElement | null }, feed: LogFeed, state: LogState): void {
  const { entries, hasOlder, isLoadingOlder, phase } = state;
  useEffect(() => {
    const element = box.current;
    if (element === null || phase !== 'ready' || !hasOlder || isLoadingOlder) return;
    if (entries.length * rowHeight < element.clientHeight) void feed.loadOlder();
  }, [box, feed, entries, hasOlder, isLoadingOlder, phase]);
}

function newLines(entries: readonly LogEntry[], seenId: string): string {
  let count = 0;
  while (count < maxCounted && isNewer(entries.at(-1 - count), seenId)) count += 1;
  if (count === 0) return 'To the end';
  if (count === maxCounted) return `Over ${formatNumber(maxCounted)} new lines`;
  return count === 1 ? '1 new line' : `${formatNumber(count)} new lines`;
}

const isNewer = (entry: LogEntry | undefined, seenId: string): boolean =>
  entry !== undefined && isLater(entry.id, seenId);

const widths = ['w-2/3', 'w-1/2', 'w-3/4', 'w-2/5', 'w-3/5'];

export function LogSkeleton() {
  return (
    <div role="status" className="flex grow flex-col gap-2 overflow-hidden p-3">
      <span className="sr-only">Loading…</span>
      {Array.from({ length: 20 }, (_, row) => (
        <Skeleton key={row} className={cx('shrink-0', widths[row % widths.length])} />
      ))}
    </div>
  );
}
