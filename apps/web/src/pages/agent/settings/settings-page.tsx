import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { abilitiesOf } from '@lodge/contract/words';
import { Notice } from '../../../components/notice.tsx';
import { TabPage } from '../../../components/page.tsx';
import { Loaded, SkeletonRows } from '../../../components/states.tsx';
import { useMay } from '../../../session.ts';
import { useAgent } from '../queries.ts';
import { AboutCard, InstructionsCard } from './about-cards.tsx';
import { AskCard } from './ask-card.tsx';
import { DangerZone } from './danger-zone.tsx';
import { KeysCard } from './keys-card.tsx';
import { DashboardCard, LimitCard, SizeCard, SleepCard } from './machine-cards.tsx';
import { ModelCard } from './model-card.tsx';
import { PackagesCard } from './packages-card.tsx';
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
  const groups = groupsOf(record, useMay('agents:delete'));
  return (
    <div className="grid items-start gap-8 xl:grid-cols-[minmax(0,48rem)_10rem]">
      <div className="flex min-w-0 flex-col gap-6">
        {!mayWrite && <Notice kind="info">Your role reads these settings. Members and the owner change them.</Notice>}
        {agent.upgrade_available && mayWrite && <UpgradeCard agent={agent} />}
        {groups.map(({ id, card }) => (
          <div key={id} id={id} className="scroll-mt-18 lg:scroll-mt-6">
            {card}
          </div>
        ))}
      </div>
      <nav aria-label="Groups of settings" className="sticky top-10 max-xl:hidden">
        <ul className="flex flex-col border-l border-line">
          {groups.map(({ id, label }) => (
            <li key={id}>
              <a
                href={`#${id}`}
                className="-ml-px block border-l border-transparent py-1 pl-3 text-muted hover:border-ink hover:text-ink"
              >
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
    </div>
  );
}

interface Group {
  /** The part of the address after the hash. */
  readonly id: string;
  readonly label: string;
  readonly card: ReactNode;
}

function groupsOf(record: Versioned, mayDelete: boolean): readonly Group[] {
  const { agent } = record;
  return [
    { id: 'about', label: 'About', card: <AboutCard record={record} /> },
    { id: 'instructions', label: 'Instructions', card: <InstructionsCard record={record} /> },
    { id: 'model', label: 'Model', card: <ModelCard record={record} /> },
    { id: 'keys', label: 'Keys', card: <KeysCard agent={agent} /> },
    { id: 'spend-limit', label: 'Spend limit', card: <LimitCard record={record} /> },
    { id: 'machine', label: 'Machine', card: <SizeCard record={record} /> },
    { id: 'packages', label: 'Packages', card: <PackagesCard record={record} /> },
    { id: 'sleep', label: 'Sleep', card: <SleepCard record={record} /> },
    { id: 'confirmations', label: 'Confirmations', card: <AskCard record={record} /> },
    { id: 'peers', label: 'Peers', card: <PeersCard record={record} /> },
    ...(abilitiesOf(agent.runtime_kind).dashboardPort !== null
      ? [{ id: 'dashboard', label: 'Dashboard', card: <DashboardCard record={record} /> }]
      : []),
    ...(mayDelete ? [{ id: 'delete', label: 'Delete', card: <DangerZone agent={agent} /> }] : []),
  ];
}
