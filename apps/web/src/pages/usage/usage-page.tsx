import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ReceiptText } from 'lucide-react';
import type { AccountSpend } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { useOpen } from '../../components/form/use-typed.ts';
import { Page, Section } from '../../components/page.tsx';
import { EmptyState, Loaded, SkeletonRows } from '../../components/states.tsx';
import { formatUsd } from '../../format.ts';
import { queries } from '../../queries.ts';
import { useAccount } from '../../session.ts';
import { LimitDialog, limitDraft } from './limit-dialog.tsx';
import { actionWords } from './limit-words.ts';
import { MonthSection } from './report/month-section.tsx';
import { ReportSection } from './report/report-section.tsx';
import { RecordingSection } from './recording-section.tsx';
import { SpendMeter } from './spend-meter.tsx';

const route = getRouteApi('/app/account/usage');
const groupings = ['model', 'agent', 'kind', 'provider'] as const;

export function UsagePage() {
  const search = route.useSearch();
  const spend = useQuery(queries.spend);
  return (
    <Page
      title="Usage & limits"
      description="What the models of all your agents cost, and the most that they may cost."
    >
      <Section
        title="Spent"
        description="Finished model calls, at known prices. Days and months begin at midnight UTC."
      >
        <Loaded query={spend} skeleton={<SkeletonRows rows={2} />}>
          {(data) => <Spent spend={data} />}
        </Loaded>
      </Section>
      <ReportSection whose="account" search={search} offered={groupings} />
      <MonthSection whose="account" limitUsd={spend.data?.monthly.limit_usd ?? null} />
      {spend.data !== undefined && <LimitsSection spend={spend.data} />}
      <RecordingSection />
    </Page>
  );
}

function Spent({ spend: { daily, monthly } }: { spend: AccountSpend }) {
  if (Number(monthly.spent_usd) === 0) {
    return (
      <EmptyState Icon={ReceiptText} title="Nothing spent this month">
        What your agents’ model calls cost is added here as each of them ends.
      </EmptyState>
    );
  }
  return (
    <div className="divide-y divide-line">
      <SpendMeter label="Today" window={daily} ends="relative" />
      <SpendMeter label="This month" window={monthly} ends="date" />
    </div>
  );
}

function LimitsSection({ spend }: { spend: AccountSpend }) {
  const { id, name, role } = useAccount();
  const [editing, setEditing] = useOpen(limitDraft(id));
  const { daily, monthly, action, spend_limit: own } = spend;
  const amount = (limit: string | null): string => (limit === null ? 'No limit' : formatUsd(limit));
  return (
    <Section
      title="Limits"
      description={describe(role === 'owner', own !== null)}
      {...(role === 'owner' && {
        actions: (
          <Button aria-label="Edit limits" onClick={() => setEditing(true)}>
            Edit
          </Button>
        ),
      })}
    >
      <dl className="grid gap-x-6 gap-y-3 px-5 py-4 sm:grid-cols-[8rem_1fr] sm:px-6">
        <dt className="text-muted">Daily</dt>
        <dd className="tabular-nums max-sm:-mt-2.5">{amount(daily.limit_usd)}</dd>
        <dt className="text-muted">Monthly</dt>
        <dd className="tabular-nums max-sm:-mt-2.5">{amount(monthly.limit_usd)}</dd>
        {action !== null && (
          <>
            <dt className="text-muted">Once reached</dt>
            <dd className="max-sm:-mt-2.5">{actionWords[action]}</dd>
          </>
        )}
      </dl>
      {editing && <LimitDialog account={{ id, name }} limit={own} onClose={() => setEditing(false)} />}
    </Section>
  );
}

function describe(mine: boolean, own: boolean): string {
  const whose = own
    ? 'Set for this account.'
    : 'Nothing is set for this account, so what this Lodge is configured with holds.';
  return mine ? whose : `${whose} Only the owner of this Lodge can change them.`;
}
