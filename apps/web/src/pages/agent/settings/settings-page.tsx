import { useQuery } from '@tanstack/react-query';
import { Notice } from '../../../components/notice.tsx';
import { TabPage } from '../../../components/page.tsx';
import { Loaded, SkeletonRows } from '../../../components/states.tsx';
import { useMay } from '../../../session.ts';
import { useAgent } from '../use-agent.ts';
import { AboutCard, InstructionsCard } from './about-cards.tsx';
import { DangerZone } from './danger-zone.tsx';
import { KeysCard } from './keys-card.tsx';
import { DashboardCard, LimitCard, SizeCard, SleepCard } from './machine-cards.tsx';
import { ModelCard } from './model-card.tsx';
import { PeersCard } from './peers-card.tsx';
import { settingsQuery } from './queries.ts';
import type { Versioned } from './queries.ts';
import { UpgradeCard } from './upgrade-card.tsx';

const pendingMs = 2_000;

export function SettingsPage() {
  const { id } = useAgent();
  const record = useQuery({
    ...settingsQuery(id),
    // No event tells when changed settings are in the machine.
    refetchInterval: ({ state: { data } }) =>
      data?.agent.settings_pending === true && data.agent.status === 'running' ? pendingMs : false,
  });
  return (
    <TabPage title="Settings">
      <Loaded
        query={record}
        skeleton={
          <div className="rounded-card border border-line bg-surface">
            <SkeletonRows rows={6} />
          </div>
        }
      >
        {(data) => <Cards key={data.agent.id} record={data} />}
      </Loaded>
    </TabPage>
  );
}

function Cards({ record }: { readonly record: Versioned }) {
  const { agent } = record;
  const mayWrite = useMay('agents:write');
  const mayDelete = useMay('agents:delete');
  return (
    <div className="flex max-w-3xl flex-col gap-6">
      {!mayWrite && <Notice kind="info">Your role reads these settings. Members and the owner change them.</Notice>}
      {agent.upgrade_available && mayWrite && <UpgradeCard agent={agent} />}
      <AboutCard record={record} />
      <InstructionsCard record={record} />
      <ModelCard record={record} />
      <KeysCard agent={agent} />
      <LimitCard record={record} />
      <SizeCard record={record} />
      <SleepCard record={record} />
      <PeersCard record={record} />
      {agent.runtime_kind === 'runtime_b' && <DashboardCard record={record} />}
      {mayDelete && <DangerZone agent={agent} />}
    </div>
  );
}
