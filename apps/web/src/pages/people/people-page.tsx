import { useQuery } from '@tanstack/react-query';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import type { Person, Role } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/data-table.tsx';
import { keepTyped, typedAt } from '../../components/form/typed.ts';
import { useOpen } from '../../components/form/use-typed.ts';
import { Page, Section } from '../../components/page.tsx';
import { OwnerOnly } from '../../components/shown/cards.tsx';
import { Loaded } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { formatNumber } from '../../format.ts';
import { queries } from '../../queries.ts';
import { useAccount } from '../../session.ts';
import { LimitDialog, limitDraft } from '../usage/limit-dialog.tsx';
import { InvitationsSection } from './invitations-section.tsx';
import { InviteDialog } from './invite-dialog.tsx';

export function PeoplePage() {
  const { role } = useAccount();
  const [inviting, setInviting] = useOpen('invite');
  if (role !== 'owner') {
    return (
      <Page title="People">
        <OwnerOnly>Only the owner of this Lodge sees who is on it and invites others.</OwnerOnly>
      </Page>
    );
  }
  return (
    <Page
      title="People"
      description="Everyone has an account of their own: agents, keys and usage are not shared."
      actions={
        <Button variant="primary" onClick={() => setInviting(true)}>
          <UserPlus aria-hidden className="size-4" />
          Invite someone
        </Button>
      }
    >
      <MembersSection />
      <InvitationsSection />
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
    </Page>
  );
}

const roleNames: Readonly<Record<Role, string>> = { owner: 'Owner', member: 'Member', viewer: 'Viewer' };

const columns: readonly Column<Person>[] = [
  {
    header: 'Name',
    cell: (member) => (
      <span className="flex min-w-0 flex-col gap-0.5">
        <span className="wrap-anywhere">{member.name}</span>
        <span className="text-[0.8125rem] font-normal break-all text-muted">{member.email}</span>
      </span>
    ),
  },
  {
    header: 'Role',
    cell: ({ role }) => <Badge tone={role === 'owner' ? 'good' : 'quiet'}>{roleNames[role]}</Badge>,
  },
  { header: 'Agents', cell: ({ agents }) => <span className="tabular-nums">{formatNumber(agents)}</span> },
  { header: 'Joined', cell: ({ created_at: joined }) => <Time value={joined} as="date" /> },
];

function MembersSection() {
  const people = useQuery(queries.people);
  const [chosen, setLimiting] = useState<Person | null>();
  const limiting = chosen === undefined ? people.data?.find(({ id }) => typedAt(limitDraft(id)) !== null) : chosen;
  const actions: Column<Person> = {
    header: 'Actions',
    actions: true,
    cell: (member) => (
      <Button
        small
        variant="ghost"
        aria-label={`Limits of ${member.name}`}
        onClick={() => setLimiting(member)}
        className="max-md:-ml-3 md:-my-1.5 md:-mr-3"
      >
        Limits
      </Button>
    ),
  };
  return (
    <Section title="Members">
      <Loaded query={people}>
        {(data) => <DataTable label="Members" columns={[...columns, actions]} rows={data} keyOf={({ id }) => id} />}
      </Loaded>
      {limiting != null && (
        <LimitDialog
          account={limiting}
          limit={limiting.spend_limit}
          onClose={() => {
            keepTyped(limitDraft(limiting.id), null);
            setLimiting(null);
          }}
        />
      )}
    </Section>
  );
}
