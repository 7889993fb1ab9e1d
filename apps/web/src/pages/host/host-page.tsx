import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Host } from '@lodge/sdk';
import { CircleAlert, CircleCheck, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from '../../components/cx.ts';
import { Meter } from '../../components/meter.tsx';
import { Page, Section } from '../../components/page.tsx';
import { Card, OwnerOnly } from '../../components/shown/cards.tsx';
import { ErrorState, Skeleton, SkeletonRows } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { formatBytes } from '../../format.ts';
import { useAccount } from '../../session.ts';
import { BackupsSection } from './backups-section.tsx';
import { ChecksSection } from './checks-section.tsx';
import { hostQuery } from './queries.ts';
import { TopAgents } from './top-agents.tsx';
import { VersionsSection } from './versions-section.tsx';
import { warningsOf } from './warnings.ts';
import type { Warning } from './warnings.ts';

const mib = 2 ** 20;

export function HostPage() {
  if (useAccount().role === 'owner') return <OwnersHostPage />;
  return (
    <Page title="Host">
      <OwnerOnly>Only the owner of this Lodge sees the machine that it runs on.</OwnerOnly>
    </Page>
  );
}

function OwnersHostPage() {
  const host = useQuery(hostQuery);
  return (
    <Page
      title="Host"
      description={
        <>
          The machine that all agents run on.
          {host.data !== undefined && (
            <>
              {' '}
              Looked at <Time value={host.data.looked_at} />.
            </>
          )}
        </>
      }
      width="wide"
    >
      <Content query={host} />
    </Page>
  );
}

function Content({ query: { data, error, isFetching, refetch } }: { query: UseQueryResult<Host> }) {
  if (data === undefined) {
    if (error === null) return <HostSkeleton />;
    return (
      <Card>
        <ErrorState error={error} retry={() => void refetch()} pending={isFetching} />
      </Card>
    );
  }
  return (
    <div className="flex flex-col gap-6">
      <Warnings host={data} />
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <div className="flex flex-col gap-6">
          <RoomSection host={data} />
          <BackupsSection backups={data.backups} />
        </div>
        <VersionsSection host={data} />
      </div>
      <ChecksSection host={data} />
      <TopAgents agents={data.agents} />
    </div>
  );
}

function Warnings({ host }: { host: Host }) {
  const warnings = warningsOf(host);
  if (warnings.length === 0) {
    return (
      <p className="flex items-center gap-2.5 rounded-control bg-accent-soft px-3.5 py-2.5">
        <CircleCheck aria-hidden className="size-4 shrink-0 text-accent" />
        Nothing needs your attention.
      </p>
    );
  }
  return (
    <Section title="Needs attention" description="What makes this Lodge weaker than it can be, worst first.">
      <ul className="divide-y divide-line">
        {warnings.map((warning) => (
          <WarningRow key={`${warning.title} ${warning.detail}`} warning={warning} />
        ))}
      </ul>
    </Section>
  );
}

function WarningRow({ warning: { kind, title, detail, advice } }: { warning: Warning }) {
  const Icon = kind === 'error' ? CircleAlert : TriangleAlert;
  return (
    <li className="flex gap-3 px-5 py-3.5 sm:px-6">
      <Icon aria-hidden className={cx('mt-0.5 size-4 shrink-0', kind === 'error' ? 'text-danger' : 'text-warn')} />
      <div className="grid min-w-0 grow gap-x-6 gap-y-0.5 md:grid-cols-[12rem_1fr]">
        <h3 className="font-medium first-letter:uppercase">
          {kind === 'error' && <span className="sr-only">Error: </span>}
          {title}
        </h3>
        <div className="min-w-0">
          <p className="wrap-anywhere first-letter:uppercase">{detail}</p>
          {advice !== null && (
            // It may be a command, which a capital letter would break.
            <p className="flex gap-1.5 text-muted">
              <span aria-hidden>→</span>
              <span className="min-w-0 wrap-anywhere">{advice}</span>
            </p>
          )}
        </div>
      </div>
    </li>
  );
}

function RoomSection({ host: { memory, disk } }: { host: Host }) {
  return (
    <Section title="Capacity">
      <div className="divide-y divide-line">
        {memory === null ? (
          <Silent what="memory" />
        ) : (
          <Room label="Memory" total={memory.total_mib} left={memory.available_mib} agents={memory.agents_mib}>
            Lodge, the database and the system have the rest.
          </Room>
        )}
        {disk === null ? (
          <Silent what="disk" />
        ) : (
          <Room label="Disk" total={disk.total_mib} left={disk.free_mib} agents={disk.agents_mib}>
            Templates, images and the database are on it as well.
          </Room>
        )}
      </div>
    </Section>
  );
}

interface RoomProps {
  readonly label: string;
  readonly total: number;
  readonly left: number;
  readonly agents: number | null;
  readonly children: ReactNode;
}

function Room({ label, total, left, agents, children }: RoomProps) {
  const used = total - left;
  return (
    <Meter
      label={label}
      used={used}
      limit={total}
      words={`${formatBytes(used * mib)} of ${formatBytes(total * mib)}`}
      full="Full"
      note={
        <>
          {formatBytes(left * mib)} free. {agents !== null && `Agents hold ${formatBytes(agents * mib)}. `}
          {children}
        </>
      }
    />
  );
}

function Silent({ what }: { what: string }) {
  return <p className="px-5 py-4 text-muted sm:px-6">The machine does not answer about its {what} at the moment.</p>;
}

function HostSkeleton() {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-6 lg:grid-cols-2">
      {['capacity', 'versions', 'backups', 'checks'].map((name) => (
        <Card key={name}>
          <div className="border-b border-line px-5 py-4 sm:px-6">
            <Skeleton className="h-5 w-32" />
          </div>
          <SkeletonRows rows={2} />
        </Card>
      ))}
    </div>
  );
}
