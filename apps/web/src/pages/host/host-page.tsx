import { useQuery } from '@tanstack/react-query';
import type { Host } from '@lodge/sdk';
import { CircleCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { Meter } from '../../components/meter.tsx';
import { Notice } from '../../components/notice.tsx';
import { Page, Section } from '../../components/page.tsx';
import { Loaded, Skeleton } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { formatBytes } from '../../format.ts';
import { BackupsSection } from './backups-section.tsx';
import { ChecksSection } from './checks-section.tsx';
import { hostQuery } from './queries.ts';
import { TopAgents } from './top-agents.tsx';
import { VersionsSection } from './versions-section.tsx';
import { warningsOf } from './warnings.ts';

const mib = 2 ** 20;

export function HostPage() {
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
      <Loaded query={host} skeleton={<HostSkeleton />}>
        {(data) => (
          <div className="flex flex-col gap-6">
            <Warnings host={data} />
            <div className="grid items-start gap-6 lg:grid-cols-2">
              <RoomSection host={data} />
              <VersionsSection host={data} />
              <BackupsSection backups={data.backups} />
              <ChecksSection host={data} />
            </div>
            <TopAgents agents={data.agents} />
          </div>
        )}
      </Loaded>
    </Page>
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
    <ul aria-label="Warnings" className="grid gap-3 lg:grid-cols-2">
      {warnings.map(({ kind, title, detail, advice }) => (
        <li key={`${title} ${detail}`} className="[&>div]:h-full">
          <Notice kind={kind}>
            <p className="font-medium first-letter:uppercase">{title}</p>
            <p className="wrap-anywhere first-letter:uppercase">{detail}</p>
            {advice !== null && <p className="pt-1 wrap-anywhere text-muted first-letter:uppercase">{advice}</p>}
          </Notice>
        </li>
      ))}
    </ul>
  );
}

function RoomSection({ host: { memory, disk } }: { host: Host }) {
  return (
    <Section title="Room">
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
    <div role="status" className="flex flex-col gap-6">
      <span className="sr-only">Loading…</span>
      <Skeleton className="h-10" />
      <div className="grid gap-6 lg:grid-cols-2">
        {['room', 'versions', 'backups', 'checks'].map((name) => (
          <Skeleton key={name} className="h-56 rounded-card" />
        ))}
      </div>
    </div>
  );
}
