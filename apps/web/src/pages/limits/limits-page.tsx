import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Limits } from '@lodge/sdk';
import { Meter } from '../../components/meter.tsx';
import { Page, Section } from '../../components/page.tsx';
import { Loaded, SkeletonRows } from '../../components/states.tsx';
import { formatBytes, formatNumber } from '../../format.ts';
import { queries } from '../../queries.ts';

export function LimitsPage() {
  const limits = useQuery(queries.limits);
  return (
    <Page
      title="Quotas & rates"
      description={
        <>
          How many agents your account may have, and how often it may ask. Spend limits are on the page{' '}
          <Link to="/account/usage" className="text-accent underline underline-offset-4">
            Usage & limits
          </Link>
          .
        </>
      }
    >
      <Section title="Quotas" description="Whoever runs this Lodge sets them, the same for every account.">
        <Loaded query={limits} skeleton={<SkeletonRows rows={2} />}>
          {({ quotas }) => <Quotas quotas={quotas} />}
        </Loaded>
      </Section>
      <Section
        title="Rates"
        description="By API key or session. A request beyond its rate is answered 429, with the time to wait."
      >
        <Loaded query={limits} skeleton={<SkeletonRows rows={5} />}>
          {(data) => <Rates limits={data} />}
        </Loaded>
      </Section>
    </Page>
  );
}

function Quotas({ quotas: { agents, running_agents: running } }: { quotas: Limits['quotas'] }) {
  const words = ({ used, limit }: { readonly used: number; readonly limit: number }): string =>
    `${formatNumber(used)} of ${formatNumber(limit)}`;
  return (
    <div className="divide-y divide-line">
      <Meter
        label="Agents"
        {...agents}
        words={words(agents)}
        note="All agents of your account, whatever their status."
      />
      <Meter
        label="Running agents"
        {...running}
        words={words(running)}
        note="Those that run or are on their way to it. Paused and stopped ones do not count."
      />
    </div>
  );
}

function Rates({ limits: { rates, sizes } }: { limits: Limits }) {
  const aMinute = ({ per_minute: count }: { readonly per_minute: number }): string => `${formatNumber(count)} a minute`;
  const rows = [
    ['Reading', 'GET and HEAD', aMinute(rates.reads)],
    ['Changing', 'POST, PUT, PATCH and DELETE', aMinute(rates.writes)],
    ['Creating agents', 'POST /v1/agents', `${aMinute(rates.creates)}, ${formatNumber(rates.creates.at_once)} at once`],
    ['Chats, commands and files', 'Requests to agents', aMinute(rates.calls)],
    ['Without a valid key', 'By network address', aMinute(rates.without_key)],
    ['Largest JSON body', 'One request', formatBytes(sizes.json_body_bytes)],
    ['Largest file', 'One request; larger ones are sent in parts', formatBytes(sizes.file_bytes)],
  ] as const;
  return (
    <dl className="divide-y divide-line">
      {rows.map(([name, what, value]) => (
        <div key={name} className="flex items-baseline justify-between gap-x-6 px-5 py-3.5 sm:px-6">
          <dt className="flex flex-col gap-0.5">
            <span className="font-medium">{name}</span>
            <span className="text-[0.8125rem] text-muted">{what}</span>
          </dt>
          <dd className="max-w-[55%] shrink-0 text-right text-pretty tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
