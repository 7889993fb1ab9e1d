import { Link } from '@tanstack/react-router';
import type { ChannelMessage } from '@lodge/sdk';
import { ArrowDownLeft, ArrowUpRight, Hash, User } from 'lucide-react';
import type { ReactNode } from 'react';
import { Badge } from '../../../components/badge.tsx';
import { cx } from '../../../components/cx.ts';
import { Markdown } from '../../../components/markdown.tsx';
import { withoutTurning } from '../../../components/markdown/bounds.ts';
import { ScrollBox, isLong } from '../../../components/scroll-box.tsx';
import { Time } from '../../../components/time.tsx';
import { visibleName } from '../../../components/words/visible-text.ts';
import { pathTo } from '../../../paths.ts';
import { useMay } from '../../../session.ts';
import { channelTitles } from '../channels/channel-names.ts';
import { useFileLinks } from '../chat/file-link.tsx';
import { stateWords } from './filters.ts';
import { RetryButton } from './retry-button.tsx';

/** A message, its state and why, and its answer. */
export function MessageCard({ message }: { message: ChannelMessage }) {
  const file = useFileLinks(message.agent_id);
  const { state, reason, attempts } = message;
  const { label, tone, meaning } = stateWords[state];
  const canRetry = state === 'failed' || state === 'unknown';
  return (
    <li className="flex flex-col gap-3 px-5 py-4 sm:px-6">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <Sender message={message} />
        <div className="flex items-center gap-3">
          <span title={meaning}>
            <Badge tone={tone}>{label}</Badge>
          </span>
          <span className="text-[0.8125rem] text-muted">
            <Time value={message.received_at} />
          </span>
        </div>
      </div>
      <Said direction="in" at={message.received_at}>
        <ScrollBox isLong={isLong(message.text ?? '')} label="Message">
          <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
            {withoutTurning(message.text ?? '') || <span className="text-muted">Without words.</span>}
          </p>
        </ScrollBox>
      </Said>
      {message.answer != null && (
        <Said direction="out" at={message.answered_at}>
          <ScrollBox isLong={isLong(message.answer)} label="Answer">
            <Markdown text={message.answer} file={file} />
          </ScrollBox>
        </Said>
      )}
      {(reason !== null || canRetry) && (
        <p className="wrap-anywhere text-muted">
          {withoutTurning(reason?.slice(0, 500) ?? meaning)}
          {attempts > 1 && ` It was tried ${attempts} times.`}
        </p>
      )}
      <Footer message={message} canRetry={canRetry} />
    </li>
  );
}

const linkLook = 'text-[0.8125rem] text-accent underline underline-offset-2';

/** A refused message leads to those who may write, any other to its conversation. */
function Footer({ message, canRetry }: { message: ChannelMessage; canRetry: boolean }) {
  const mayChange = useMay('agents:write');
  const { agent_id: agentId, channel, conversation, state } = message;
  if (state === 'refused') {
    if (!mayChange) return null;
    return (
      <Link
        to={pathTo('/agents/$agentId/channels', agentId)}
        search={{ channel }}
        className={cx('self-start', linkLook)}
      >
        Who may write on {channelTitles[channel]}
      </Link>
    );
  }
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      {canRetry && mayChange && <RetryButton message={message} />}
      <Link
        to={pathTo('/agents/$agentId/chat', agentId)}
        search={{ channel, conversation: conversation.id }}
        className={linkLook}
      >
        Whole conversation
      </Link>
    </div>
  );
}

function Sender({ message: { channel, conversation, sender } }: { message: ChannelMessage }) {
  const Icon = conversation.kind === 'group' ? Hash : User;
  const name = visibleName(sender.name.slice(0, 200));
  return (
    <p className="flex min-w-0 items-center gap-2">
      <Icon aria-hidden className="size-4 shrink-0 text-muted" />
      <bdi className="max-w-80 truncate font-medium" title={name}>
        {name || sender.id}
      </bdi>
      <span className="shrink-0 text-muted">
        on {channelTitles[channel]}
        {conversation.kind === 'group' && ', in a group'}
      </span>
    </p>
  );
}

interface SaidProps {
  readonly direction: 'in' | 'out';
  readonly at: string | null;
  readonly children: ReactNode;
}

function Said({ direction, at, children }: SaidProps) {
  const Icon = direction === 'in' ? ArrowDownLeft : ArrowUpRight;
  return (
    <div className="flex min-w-0 gap-2.5">
      <span title={direction === 'in' ? 'Came in' : 'Went out'} className="pt-0.5">
        <Icon aria-hidden className={direction === 'in' ? 'size-4 text-muted' : 'size-4 text-accent'} />
        <span className="sr-only">{direction === 'in' ? 'Message:' : 'Answer:'}</span>
      </span>
      <div className="min-w-0 grow">
        {children}
        {direction === 'out' && at !== null && (
          <p className="pt-1 text-xs text-muted">
            Sent <Time value={at} />
          </p>
        )}
      </div>
    </div>
  );
}
