import { RotateCw } from 'lucide-react';
import { memo } from 'react';
import { Button } from '../../../components/button.tsx';
import { Elapsed, Time } from '../../../components/time.tsx';
import { Markdown } from '../../../components/markdown.tsx';
import type { ShowFile } from '../../../components/markdown/safe-link.tsx';
import { Notice } from '../../../components/notice.tsx';
import { isLong, ScrollBox } from '../../../components/scroll-box.tsx';
import { isRunning } from './conversation.ts';
import type { Turn } from './conversation.ts';
import { CostLine } from './cost-line.tsx';
import { Steps } from './steps.tsx';

interface TurnViewProps {
  readonly turn: Turn;
  readonly agentName: string;
  readonly file: ShowFile;
  /** Undefined where nothing can be sent now. */
  readonly onAgain: ((turnId: string) => void) | undefined;
}

/** A message to the agent, and its answer. */
export const TurnView = memo(function TurnView({ turn, agentName, file, onAgain }: TurnViewProps) {
  return (
    <li className="flex flex-col gap-4">
      <Said text={turn.said} at={turn.at}>
        {turn.files.length > 0 && (
          <ul aria-label="Files" className="flex flex-col gap-1">
            {turn.files.map(({ path, name }) => (
              <li key={path}>{file(path, <bdi>{name}</bdi>)}</li>
            ))}
          </ul>
        )}
      </Said>
      <Answer turn={turn} name={turn.member ?? agentName} file={file} onAgain={onAgain} />
    </li>
  );
});

/** The person's own words, as they were typed. */
export function Said({
  text,
  at,
  name = 'You',
  children,
}: {
  text: string;
  at: string;
  name?: string;
  children?: React.ReactNode;
}) {
  return (
    <div className="flex max-w-[85%] flex-col gap-1 self-end">
      <p className="flex items-baseline justify-end gap-2 text-xs text-muted">
        <bdi className="max-w-60 truncate font-medium">{name}</bdi>
        <Time value={at} />
      </p>
      <div className="flex flex-col gap-2 rounded-card rounded-tr-sm bg-accent-soft px-4 py-2.5">
        {text !== '' && (
          <ScrollBox isLong={isLong(text)} label="Message">
            <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
              {text}
            </p>
          </ScrollBox>
        )}
        {children}
      </div>
    </div>
  );
}

function Answer({ turn, name, file, onAgain }: Omit<TurnViewProps, 'agentName'> & { name: string }) {
  const running = isRunning(turn);
  const isEmpty = turn.parts.length === 0;
  return (
    <div className="flex min-w-0 flex-col gap-2" aria-busy={running}>
      <p className="flex items-baseline gap-2 text-xs text-muted">
        <bdi className="max-w-60 truncate font-medium">{name}</bdi>
      </p>
      {turn.parts.map((part, at) =>
        part.kind === 'text' ? (
          // A part keeps its place for good.
          // oxlint-disable-next-line react/no-array-index-key
          <Markdown key={at} text={part.text} streaming={running && at === turn.parts.length - 1} file={file} />
        ) : (
          // oxlint-disable-next-line react/no-array-index-key
          <Steps key={at} steps={part.steps} running={running} />
        ),
      )}
      {running && <AtWork state={turn.state} isEmpty={isEmpty} since={turn.at} />}
      {turn.state === 'done' && isEmpty && <p className="text-muted">The agent said nothing.</p>}
      {turn.left !== undefined && (
        <p className="text-muted">
          The answer is longer than this page keeps: {turn.left.toLocaleString('en')} characters are left out.
        </p>
      )}
      <Outcome turn={turn} />
      {!running && <CostLine turn={turn} />}
      {!running && turn.state !== 'done' && onAgain !== undefined && (
        <div>
          <Button small onClick={() => onAgain(turn.id)}>
            <RotateCw aria-hidden className="size-3.5" />
            {turn.state === 'failed' ? 'Try again' : 'Ask again'}
          </Button>
        </div>
      )}
    </div>
  );
}

function AtWork({ state, isEmpty, since }: { state: Turn['state']; isEmpty: boolean; since: string }) {
  return (
    <p className="flex items-center gap-2 text-muted">
      <span aria-hidden className="flex gap-1">
        {[0, 1, 2].map((dot) => (
          <span key={dot} className="size-1.5 animate-pulse rounded-full bg-accent" />
        ))}
      </span>
      {state === 'waking'
        ? 'The agent sleeps, and is being woken…'
        : isEmpty
          ? 'The agent is at work…'
          : 'Still at work…'}
      <Elapsed since={since} />
    </p>
  );
}

/** Why an answer is not whole. */
function Outcome({ turn: { state, parts, problem } }: { turn: Turn }) {
  switch (state) {
    case 'stopped':
      return (
        <p className="text-muted">
          {parts.length === 0 ? 'You stopped it before it said anything.' : 'You stopped it here.'}
        </p>
      );
    case 'cut':
      return (
        <Notice kind="warning" alert>
          The connection ended before the answer did. {parts.length > 0 && 'What had come is kept above. '}The agent may
          have done more than you see.
        </Notice>
      );
    case 'failed':
      return (
        <Notice kind="error" alert>
          {problem?.words ?? 'The answer failed.'}
          {problem?.requestId !== undefined && (
            <span className="block text-xs text-muted">Request {problem.requestId}</span>
          )}
        </Notice>
      );
    case 'waking':
    case 'working':
    case 'done':
      return null;
  }
}
