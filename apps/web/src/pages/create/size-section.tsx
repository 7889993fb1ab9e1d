import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import type { Limits, Size } from '@lodge/sdk';
import { ChoiceField } from '../../components/form/choice-field.tsx';
import { FormCard } from '../../components/shown/cards.tsx';
import { Notice } from '../../components/notice.tsx';
import { machineWords, sizeNames } from '../../components/words/agent-words.ts';
import { Loaded, SkeletonRows } from '../../components/states.tsx';
import { useAccount } from '../../session.ts';
import { hostQuery } from '../host/queries.ts';
import { formatNumber } from '../../format.ts';
import type { SectionProps } from './draft.ts';
import { queries } from '../../queries.ts';
import { sizesQuery } from './queries.ts';

/** The machine: what it takes here, and whether the account has room for one more. */
export function SizeSection({ draft, set }: SectionProps) {
  const sizes = useQuery(sizesQuery);
  const limits = useQuery(queries.limits);
  return (
    <FormCard
      title="Machine"
      description="What the agent’s computer takes of this host while it runs or sleeps. A stopped one takes only its disk."
    >
      <Loaded query={sizes} skeleton={<SkeletonRows rows={4} />}>
        {(all) => <Choices sizes={all} value={draft.size} choose={(size) => set({ size })} />}
      </Loaded>
      {limits.data !== undefined && <Room quotas={limits.data.quotas} />}
      <HostRoom />
    </FormCard>
  );
}

interface ChoicesProps {
  readonly sizes: readonly Size[];
  readonly value: Size['id'];
  readonly choose: (size: Size['id']) => void;
}

function Choices({ sizes, value, choose }: ChoicesProps) {
  const name = useId();
  return (
    <ChoiceField
      legend="Size"
      name={name}
      value={value}
      onChoose={choose}
      choices={sizes.map((size) => ({
        value: size.id,
        label: `${sizeNames[size.id]}${size.default ? ' (usual)' : ''}`,
        meaning: machineWords(size),
      }))}
    />
  );
}

/** Whether one more fits the account. The host's own room is looked at when the agent is made. */
function Room({ quotas: { agents, running_agents: running } }: { readonly quotas: Limits['quotas'] }) {
  if (agents.used >= agents.limit) {
    return (
      <Notice kind="warning">
        You have all {formatNumber(agents.limit)} agents that this account may have. Delete one first, or ask the owner
        for more.
      </Notice>
    );
  }
  if (running.used >= running.limit) {
    return (
      <Notice kind="warning">
        {formatNumber(running.limit)} agents run, and this account may run no more at once. Stop one first, or let one
        sleep.
      </Notice>
    );
  }
  return (
    <p className="text-[0.8125rem] text-muted">
      One more fits your account: {formatNumber(agents.used)} of {formatNumber(agents.limit)} agents,{' '}
      {formatNumber(running.used)} of {formatNumber(running.limit)} running.
    </p>
  );
}

/** The room that the host has left, for the owner. The server decides, and counts what it has promised to others, too. */
function HostRoom() {
  const isOwner = useAccount().role === 'owner';
  const host = useQuery({ ...hostQuery, enabled: isOwner, refetchInterval: false });
  const { memory, disk } = host.data ?? {};
  return (
    <p className="text-[0.8125rem] text-muted">
      {memory != null && disk != null && (
        <>
          This host has {gigabytes(memory.available_mib)} of memory and {gigabytes(disk.free_mib)} of disk left.{' '}
        </>
      )}
      Its room is checked before anything is made.
    </p>
  );
}

const gigabytes = (mebibytes: number): string => `${formatNumber(Number((mebibytes / 1024).toFixed(1)))} GB`;
