import type { Channel } from '@lodge/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import { Badge } from '../../../components/badge.tsx';
import { Time } from '../../../components/time.tsx';
import { Stranger } from '../answers/stranger.tsx';
import { channelNames, channelTitles } from './channel-names.ts';
import type { ChannelName } from './channel-names.ts';
import { platforms } from './platforms.tsx';
import { approvalsQuery } from './queries.ts';
import { channelsRoute } from '../routes.ts';
import { statusWords } from './status.ts';

/** All platforms, each with how it is. */
export function ChannelList({
  agentId,
  channels,
}: {
  readonly agentId: string;
  readonly channels: readonly Channel[];
}) {
  return (
    <ul aria-label="Channels" className="grid gap-4 md:grid-cols-2 2xl:grid-cols-3">
      {channelNames.map((name) => (
        <ChannelCard
          key={name}
          agentId={agentId}
          name={name}
          channel={channels.find((channel) => channel.channel === name)}
        />
      ))}
    </ul>
  );
}

interface CardProps {
  readonly agentId: string;
  readonly name: ChannelName;
  readonly channel: Channel | undefined;
}

function ChannelCard({ agentId, name, channel }: CardProps) {
  const { label, tone } = statusWords(channel?.status ?? 'not_configured');
  return (
    <li className="relative flex flex-col gap-2 rounded-card border border-line bg-surface px-5 py-4 shadow-card hover:bg-hover">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="text-base font-semibold">
          <Link
            to={channelsRoute.to}
            params={{ agentId }}
            search={{ channel: name }}
            className="after:absolute after:inset-0 after:rounded-card"
          >
            {channelTitles[name]}
          </Link>
        </h3>
        <span className="flex items-center gap-2">
          {channel?.access.mode === 'pairing' && <WaitingCount agentId={agentId} name={name} />}
          <Badge tone={tone}>{label}</Badge>
          <ChevronRight aria-hidden className="size-4 text-muted" />
        </span>
      </div>
      <p className="min-w-0 text-muted">
        {channel?.status_reason?.message ?? (
          <Summary identity={channel?.identity ?? null} otherwise={platforms[name].summary} />
        )}
      </p>
      {channel !== undefined && channel.last_inbound_at !== null && (
        <p className="text-[0.8125rem] text-muted">
          Last message <Time value={channel.last_inbound_at} />
        </p>
      )}
    </li>
  );
}

function Summary({ identity, otherwise }: { readonly identity: Channel['identity']; readonly otherwise: string }) {
  if (identity === null) return otherwise;
  return (
    <>
      As <Stranger name={identity.name} />
    </>
  );
}

/** How many people wait at the channel, where any do. */
function WaitingCount({ agentId, name }: Omit<CardProps, 'channel'>) {
  const { data } = useQuery(approvalsQuery(agentId, name, 'pending'));
  if (data === undefined || data.length === 0) return null;
  return <Badge tone="warning">{data.length === 1 ? '1 person asks' : `${data.length} people ask`}</Badge>;
}
