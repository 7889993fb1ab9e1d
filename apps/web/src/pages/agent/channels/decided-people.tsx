import type { Approval } from '@lodge/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Badge } from '../../../components/badge.tsx';
import { Loaded } from '../../../components/states.tsx';
import { Time } from '../../../components/time.tsx';
import { Stranger } from '../answers/stranger.tsx';
import type { ChannelName } from './channel-names.ts';
import { approvalsQuery, shownApprovals } from './queries.ts';

/** The people who were let in or turned away before. It is read when somebody looks. */
export function DecidedPeople({ agentId, channel }: { readonly agentId: string; readonly channel: ChannelName }) {
  const [open, setOpen] = useState(false);
  return (
    <details
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="rounded-card border border-line bg-surface shadow-card"
    >
      <summary className="px-5 py-4 font-medium sm:px-6">People who were let in or turned away</summary>
      {open && (
        <div className="border-t border-line">
          <Decided agentId={agentId} channel={channel} state="approved" />
          <Decided agentId={agentId} channel={channel} state="denied" />
        </div>
      )}
    </details>
  );
}

interface DecidedProps {
  readonly agentId: string;
  readonly channel: ChannelName;
  readonly state: Exclude<Approval['state'], 'pending'>;
}

function Decided({ agentId, channel, state }: DecidedProps) {
  const people = useQuery(approvalsQuery(agentId, channel, state));
  const word = state === 'approved' ? 'Let in' : 'Turned away';
  return (
    <Loaded query={people}>
      {(data) =>
        data.length === 0 ? (
          <p className="px-5 py-3 text-muted sm:px-6">{word}: nobody.</p>
        ) : (
          <ul aria-label={word} className="divide-y divide-line">
            {data.slice(0, shownApprovals).map(({ sender, decided_at: decided }) => (
              <li key={sender.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-5 py-3 sm:px-6">
                <span className="min-w-0 grow">
                  <Stranger name={sender.name} /> <span className="wrap-anywhere text-muted">{sender.id}</span>
                </span>
                <Badge tone={state === 'approved' ? 'good' : 'quiet'}>{word}</Badge>
                {decided !== null && (
                  <span className="text-muted">
                    <Time value={decided} />
                  </span>
                )}
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}
