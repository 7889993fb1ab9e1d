import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { LlmCallDetail } from '@lodge/sdk';
import type { ReactNode } from 'react';
import { lodge, read } from '../../../api.ts';
import { Badge } from '../../../components/badge.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { withoutTurning } from '../../../components/markdown/bounds.ts';
import { CodeBlock } from '../../../components/markdown/code-block.tsx';
import { Notice } from '../../../components/notice.tsx';
import { Loaded } from '../../../components/states.tsx';
import { formatDateTime, formatNumber } from '../../../format.ts';
import { costWords, durationWords, outcomeWords, tokenWords } from './call-words.ts';

const callQuery = (agentId: string, callId: string) =>
  queryOptions({
    queryKey: ['agent', agentId, 'calls', 'one', callId],
    queryFn: () => read(lodge.llmCalls.get(agentId, callId)),
    staleTime: Infinity,
  });

/** One model call: its figures, and what was said where that was recorded. */
export function CallDialog(props: { agentId: string; callId: string; onClose: () => void }) {
  const query = useQuery(callQuery(props.agentId, props.callId));
  return (
    <Dialog title="Model call" onClose={props.onClose}>
      <Loaded query={query}>
        {(call) => (
          <div className="flex min-w-0 flex-col gap-5">
            <Figures call={call} />
            <Content call={call} />
          </div>
        )}
      </Loaded>
    </Dialog>
  );
}

function Figures({ call }: { call: LlmCallDetail }) {
  const { label, meaning, isBad } = outcomeWords[call.outcome];
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Model', `${call.provider}/${call.model}`],
    ['Began', formatDateTime(new Date(call.started_at))],
    [
      'Outcome',
      <span key="outcome" className="flex flex-wrap items-center gap-2">
        <Badge tone={isBad ? 'bad' : 'good'}>{label}</Badge>
        <span className="text-muted">
          {meaning}
          {call.status !== null && ` HTTP ${call.status}.`}
        </span>
      </span>,
    ],
    ['Tokens', tokenWords(call)],
    ...(call.reasoning_tokens === null ? [] : [['Reasoning', formatNumber(call.reasoning_tokens)] as const]),
    ['Took', durationWords(call)],
    ...(call.time_to_first_byte_ms === null
      ? []
      : [['First word after', `${formatNumber(call.time_to_first_byte_ms)} ms`] as const]),
    ['Cost', costWords(call)],
  ];
  return (
    <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-5 gap-y-2">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 wrap-anywhere tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Content({ call: { content } }: { call: LlmCallDetail }) {
  if (content === null) {
    return (
      <Notice kind="info">
        What was said is not kept. It is from the next call on, once recording is turned on under{' '}
        <Link to="/account/usage" className="text-accent underline underline-offset-2">
          Usage
        </Link>
        .
      </Notice>
    );
  }
  const { request, response, truncated } = content;
  return (
    <>
      {truncated && <Notice kind="info">One of them was longer than the 256 KiB that are kept of each.</Notice>}
      <Said title="Request" text={request} none="None was read." />
      <Said title="Answer" text={response} none="Nothing whole came." />
    </>
  );
}

function Said({ title, text, none }: { title: string; text: string | null; none: string }) {
  return (
    <section className="flex min-w-0 flex-col gap-2">
      <h3 className="font-medium">{title}</h3>
      {text === null ? <p className="text-muted">{none}</p> : <CodeBlock code={pretty(text)} language={title} />}
    </section>
  );
}

/** JSON with its lines; a stream of events as it came. */
function pretty(text: string): string {
  try {
    return withoutTurning(JSON.stringify(JSON.parse(text), null, 2));
  } catch {
    return withoutTurning(text);
  }
}
