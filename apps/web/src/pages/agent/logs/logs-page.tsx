import { useQueryClient } from '@tanstack/react-query';
import { ApiError } from '@lodge/sdk';
import type { LogEntry } from '@lodge/sdk';
import { Check, Copy, Download, ScrollText, WrapText } from 'lucide-react';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { Button } from '../../../components/button.tsx';
import { useCopy } from '../../../components/copy-field.tsx';
import { cx } from '../../../components/cx.ts';
import { Notice, Reason } from '../../../components/notice.tsx';
import { TabPage } from '../../../components/page.tsx';
import { saveFile } from '../../../components/save-file.ts';
import { EmptyState, ErrorState } from '../../../components/states.tsx';
import { formatDateTime, formatNumber } from '../../../format.ts';
import { queries } from '../../../queries.ts';
import { useAgent } from '../queries.ts';
import { LogFeed } from './log-feed.ts';
import type { LogState } from './log-feed.ts';
import { LogList, LogSkeleton } from './log-list.tsx';
import { LogToolbar } from './log-toolbar.tsx';
import { lineOf } from './log-words.ts';
import { logsRoute } from '../routes.ts';

/** The agent's log as it grows. */
export function LogsPage() {
  const agent = useAgent();
  const search = logsRoute.useSearch();
  const navigate = logsRoute.useNavigate();
  const { level, source, q, at } = search;
  const feed = useMemo(
    () =>
      new LogFeed(
        agent.id,
        { ...(level !== undefined && { level }), ...(source !== undefined && { source }), ...(q && { search: q }) },
        at,
      ),
    [agent.id, level, source, q, at],
  );
  const state = useSyncExternalStore(feed.subscribe, feed.state);
  useLostSession(state.error);
  const change: Parameters<typeof LogToolbar>[0]['change'] = (changed) =>
    void navigate({ search: (before) => dropEmpty({ ...before, ...changed }), replace: true, resetScroll: false });
  const isFiltered = level !== undefined || source !== undefined || q !== undefined || at !== undefined;
  const clear = () => change({ level: undefined, source: undefined, q: undefined, at: undefined });
  return (
    <TabPage
      title="Logs"
      width="wide"
      description="What Lodge did with the agent, and what its machine and its programs said."
      actions={
        <LogActions
          entries={state.entries}
          name={agent.name}
          wraps={search.wrap === '1'}
          toggleWrap={() => change({ wrap: search.wrap === '1' ? undefined : '1' })}
        />
      }
    >
      <LogToolbar search={search} change={change} />
      {state.phase === 'failed' && state.entries.length > 0 && (
        <Notice kind="error" alert>
          <Reason error={state.error} />{' '}
          <button type="button" onClick={feed.retry} className="font-medium underline">
            Try again
          </button>
        </Notice>
      )}
      <section
        aria-label="Log"
        className="flex h-[calc(100dvh-22rem)] min-h-96 flex-col overflow-hidden rounded-card border border-line bg-surface shadow-card"
      >
        <LogBody feed={feed} state={state} search={search} isFiltered={isFiltered} clear={clear} />
        <LogStatus state={state} at={at} toNow={() => change({ at: undefined })} />
      </section>
    </TabPage>
  );
}

interface BodyProps {
  readonly feed: LogFeed;
  readonly state: LogState;
  readonly search: { readonly wrap?: '1'; readonly q?: string };
  readonly isFiltered: boolean;
  readonly clear: () => void;
}

function LogBody({ feed, state, search, isFiltered, clear }: BodyProps) {
  if (state.entries.length > 0) {
    return <LogList key={keyOf(feed)} feed={feed} state={state} wrap={search.wrap === '1'} search={search.q ?? ''} />;
  }
  if (state.phase === 'failed') {
    return (
      <div className="grow">
        <ErrorState error={state.error} retry={feed.retry} />
      </div>
    );
  }
  if (state.phase === 'loading') return <LogSkeleton />;
  return (
    <div className="grow">
      {isFiltered ? (
        <EmptyState
          Icon={ScrollText}
          title="No line matches"
          action={<Button onClick={clear}>Show the whole log</Button>}
        >
          New lines that match appear here by themselves.
        </EmptyState>
      ) : (
        <EmptyState Icon={ScrollText} title="Nothing was logged yet">
          Lines appear here as the agent starts, works and sleeps.
        </EmptyState>
      )}
    </div>
  );
}

/** Another filter is another list, which begins at its own end. */
const keys = new WeakMap<LogFeed, number>();
let lastKey = 0;
function keyOf(feed: LogFeed): number {
  const key = keys.get(feed) ?? (lastKey += 1);
  keys.set(feed, key);
  return key;
}

function LogStatus({ state, at, toNow }: { state: LogState; at: string | undefined; toNow: () => void }) {
  const { connection, entries, phase } = state;
  const count = `${formatNumber(entries.length)} ${entries.length === 1 ? 'line' : 'lines'}`;
  return (
    <footer className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1 border-t border-line bg-sunken px-3 py-1.5 text-xs text-muted">
      <span role="status" className="flex items-center gap-2">
        <span aria-hidden className={cx('size-2 rounded-full', dots[connection])} />
        {phase === 'loading' ? 'Loading…' : words[connection]}
      </span>
      {phase !== 'loading' && <span>{count} here</span>}
      {state.dropped > 0 && <span>The oldest were dropped from this page: scroll up to read them again.</span>}
      {at !== undefined && (
        <span className="ml-auto flex items-center gap-2">
          From {formatDateTime(new Date(at))}
          <button type="button" onClick={toNow} className="font-medium text-accent underline">
            Back to now
          </button>
        </span>
      )}
    </footer>
  );
}

const dots = { connecting: 'bg-control', live: 'bg-accent', cut: 'bg-danger', behind: 'bg-control' } as const;
const words = {
  connecting: 'Connecting…',
  live: 'Live',
  cut: 'The connection was lost. Reconnecting…',
  behind: 'Scroll down to read on',
} as const;

interface ActionsProps {
  readonly entries: readonly LogEntry[];
  readonly name: string;
  readonly wraps: boolean;
  readonly toggleWrap: () => void;
}

function LogActions({ entries, name, wraps, toggleWrap }: ActionsProps) {
  const { copied, copy } = useCopy();
  const Icon = copied ? Check : Copy;
  const asText = (): string => `${entries.map(lineOf).join('\n')}\n`;
  const isEmpty = entries.length === 0;
  return (
    <div className="flex flex-wrap gap-2">
      <Button
        small
        aria-pressed={wraps}
        onClick={toggleWrap}
        className="aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent"
      >
        <WrapText aria-hidden className="size-4" />
        Wrap lines
      </Button>
      <Button small disabled={isEmpty} onClick={(event) => copy(asText(), event.currentTarget)}>
        <Icon aria-hidden className="size-4" />
        {copied ? 'Copied' : 'Copy lines'}
      </Button>
      <Button
        small
        disabled={isEmpty}
        onClick={() => saveFile(`${name}.log`, new Blob([asText()], { type: 'text/plain' }))}
      >
        <Download aria-hidden className="size-4" />
        Download
      </Button>
    </div>
  );
}

/** A session that has ended shows in the page's frame, which leads to the sign-in page. */
function useLostSession(error: unknown): void {
  const queryClient = useQueryClient();
  useEffect(() => {
    if (error instanceof ApiError && error.status === 401) void queryClient.invalidateQueries(queries.session);
  }, [error, queryClient]);
}

function dropEmpty<T extends object>(search: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>;
  };
}
