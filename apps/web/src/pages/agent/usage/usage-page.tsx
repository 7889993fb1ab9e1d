import { getRouteApi } from '@tanstack/react-router';
import { Button } from '../../../components/button.tsx';
import { useOpen } from '../../../components/form/use-typed.ts';
import { Section, TabPage } from '../../../components/page.tsx';
import { FactList } from '../../../components/shown/facts.tsx';
import { formatUsd } from '../../../format.ts';
import { useMay } from '../../../session.ts';
import { limitDraft } from '../../usage/limit-dialog.tsx';
import { actionWords } from '../../usage/limit-words.ts';
import { MonthSection } from '../../usage/report/month-section.tsx';
import { ReportSection } from '../../usage/report/report-section.tsx';
import { useAgent } from '../queries.ts';
import { AgentLimitDialog } from './agent-limit-dialog.tsx';
import { CallsSection } from './calls-section.tsx';

const route = getRouteApi('/app/agents/$agentId/usage');
const groupings = ['model', 'kind', 'provider'] as const;

/** The cost of one agent by day and model, and its limit. */
export function AgentUsagePage() {
  const agent = useAgent();
  const search = route.useSearch();
  const whose = { agentId: agent.id };
  return (
    <TabPage title="Usage" description="What this agent used and cost, and how much it may.">
      <ReportSection whose={whose} search={search} offered={groupings} />
      <MonthSection whose={whose} limitUsd={agent.spend_limit?.monthly_usd ?? null} />
      <LimitSection />
      <CallsSection agentId={agent.id} />
    </TabPage>
  );
}

function LimitSection() {
  const agent = useAgent();
  const mayChange = useMay('agents:write');
  const [editing, setEditing] = useOpen(limitDraft(agent.id));
  const { spend_limit: limit } = agent;
  const amount = (value: string | null): string => (value === null ? 'No limit' : formatUsd(value));
  return (
    <Section
      title="Limits"
      description={
        limit === null
          ? 'It has none of its own: the limits of this Lodge and of your account hold.'
          : 'Of this agent alone, in days and months of UTC. The limits of your account hold as well.'
      }
      {...(mayChange && {
        actions: (
          <Button aria-label="Edit limits" onClick={() => setEditing(true)}>
            {limit === null ? 'Set' : 'Edit'}
          </Button>
        ),
      })}
    >
      {limit !== null && (
        <div className="px-5 py-4 sm:px-6">
          <FactList
            facts={[
              ['Daily', amount(limit.daily_usd ?? null)],
              ['Monthly', amount(limit.monthly_usd ?? null)],
              ['Once reached', actionWords[limit.action]],
            ]}
          />
        </div>
      )}
      {editing && <AgentLimitDialog agent={agent} onClose={() => setEditing(false)} />}
    </Section>
  );
}
