import { Link } from '@tanstack/react-router';
import {
  Cable,
  CalendarClock,
  CircleAlert,
  Cpu,
  MessageSquareText,
  Settings2,
  Sparkles,
  TriangleAlert,
  Wallet,
  Webhook,
} from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import { formatDateTime, formatTime } from '../../../format.ts';
import { pathTo } from '../../../paths.ts';
import { useAgent } from '../queries.ts';
import { CallList } from './call-list.tsx';
import type { EventWords, Tone } from './event-words.ts';
import type { ActivityKind } from './kinds.ts';
import type { Item } from './timeline.ts';

const kindIcons: Readonly<Record<ActivityKind, LucideIcon>> = {
  turns: Sparkles,
  messages: MessageSquareText,
  schedules: CalendarClock,
  hooks: Webhook,
  connections: Cable,
  machine: Cpu,
  settings: Settings2,
  spend: Wallet,
};

const looks: Readonly<Record<Tone, string>> = {
  plain: 'bg-hover text-muted',
  good: 'bg-accent-soft text-accent',
  warning: 'bg-warn-soft text-warn',
  bad: 'bg-danger-soft text-danger',
};

const work: EventWords = {
  kind: 'turns',
  title: 'Worked with its models',
  detail: 'For a chat, another agent, or by itself.',
  tone: 'good',
};

/** One thing that happened, with the model calls that belong to it. */
export function ItemRow({ item, onCall }: { item: Item; onCall: (callId: string) => void }) {
  const words = item.type === 'event' ? item.words : work;
  const { kind, title, detail, tone } = words;
  const Icon = tone === 'bad' ? CircleAlert : tone === 'warning' ? TriangleAlert : kindIcons[kind];
  return (
    <li className="flex gap-3.5 px-5 py-3 sm:px-6">
      <span className={`mt-0.5 flex size-7 shrink-0 items-center justify-center rounded-full ${looks[tone]}`}>
        <Icon aria-hidden className="size-3.5" />
      </span>
      <div className="flex min-w-0 grow flex-col gap-1">
        <div className="flex flex-wrap items-baseline justify-between gap-x-4">
          <p className="min-w-0 font-medium wrap-anywhere">{title}</p>
          <time
            dateTime={item.at}
            title={formatDateTime(new Date(item.at))}
            className="shrink-0 text-[0.8125rem] text-muted tabular-nums"
          >
            {formatTime(new Date(item.at))}
          </time>
        </div>
        {detail !== undefined && (
          <p dir="auto" className="wrap-anywhere text-muted">
            {detail}
          </p>
        )}
        {kind === 'messages' && item.type === 'event' && item.event.type.startsWith('message.') && (
          <ToMessages type={item.event.type} />
        )}
        {item.calls.length > 0 && <CallList item={item} onCall={onCall} />}
      </div>
    </li>
  );
}

function ToMessages({ type }: { type: string }) {
  const { id } = useAgent();
  if (type === 'message.received') return null;
  return (
    <Link
      to={pathTo('/agents/$agentId/messages', id)}
      className="w-fit text-[0.8125rem] text-accent underline underline-offset-2"
    >
      See the messages
    </Link>
  );
}
