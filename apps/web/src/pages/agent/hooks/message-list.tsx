import type { HookMessage } from '@lodge/sdk';
import { Inbox } from 'lucide-react';
import { Badge } from '../../../components/badge.tsx';
import type { Tone } from '../../../components/badge.tsx';
import { Paged, usePages } from '../../../components/shown/paged.tsx';
import { Section } from '../../../components/page.tsx';
import { EmptyState } from '../../../components/states.tsx';
import { Time } from '../../../components/time.tsx';
import { formatDateTime } from '../../../format.ts';
import { hookMessagesKey, hookMessagesPage } from './queries.ts';

const words: Readonly<Record<HookMessage['state'], { readonly label: string; readonly tone: Tone }>> = {
  received: { label: 'Waits', tone: 'quiet' },
  answering: { label: 'Under way', tone: 'quiet' },
  answered: { label: 'Answered', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  skipped: { label: 'Skipped', tone: 'warning' },
};

/** The requests to a hook, newest first. Their bodies are deleted when they have ended, and never shown. */
export function MessageList({ agentId, hook }: { readonly agentId: string; readonly hook: string }) {
  const query = usePages(hookMessagesKey(agentId, hook), hookMessagesPage(agentId, hook));
  return (
    <Section title="Messages that came" description="What a sender wrote is deleted when its message has ended.">
      <Paged query={query}>
        {(messages) =>
          messages.length === 0 ? (
            <EmptyState Icon={Inbox} title="Nothing came yet">
              Each request to the hook’s address is one message to the agent, and stands here.
            </EmptyState>
          ) : (
            <ul aria-label="Messages of the hook" className="divide-y divide-line">
              {messages.map((message) => (
                <MessageRow key={message.id} message={message} />
              ))}
            </ul>
          )
        }
      </Paged>
    </Section>
  );
}

function MessageRow({ message }: { readonly message: HookMessage }) {
  const { label, tone } = words[message.state];
  return (
    <li className="flex flex-col gap-1.5 px-5 py-4 sm:px-6">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium">{formatDateTime(new Date(message.received_at))}</span>
        <Badge tone={tone}>{label}</Badge>
        {message.attempts > 1 && <span className="text-[0.8125rem] text-muted">{message.attempts} attempts</span>}
        <span className="ml-auto text-[0.8125rem] text-muted">
          <Time value={message.ended_at ?? message.received_at} />
        </span>
      </p>
      {message.reason !== null && <p className="wrap-anywhere text-muted">{message.reason}</p>}
    </li>
  );
}
