import { useQuery, useQueryClient } from '@tanstack/react-query';
import { abilitiesOf } from '@lodge/contract/words';
import type { AgentMember } from '@lodge/sdk';
import { Plus, Users } from 'lucide-react';
import { useState } from 'react';
import { change, lodge } from '../../../api.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { Section, TabPage } from '../../../components/page.tsx';
import { EmptyState, Loaded } from '../../../components/states.tsx';
import { keepTyped, typedAt } from '../../../components/form/typed.ts';
import { toast } from '../../../components/toasts/toasts.tsx';
import { runtimeNames } from '../../../components/words/agent-words.ts';
import { useMay } from '../../../session.ts';
import { useAgent } from '../queries.ts';
import { MemberDialog, memberDraft } from './member-dialog.tsx';
import { MemberRow } from './member-row.tsx';
import { PeersSection } from './peers-section.tsx';
import { membersQuery } from './queries.ts';

type Open = { readonly kind: 'add' } | { readonly kind: 'edit' | 'remove'; readonly member: AgentMember };

/** The dialog in which something was typed before. */
function openOf(agentId: string, members: readonly AgentMember[]): Open | null {
  if (typedAt(memberDraft(agentId)) !== null) return { kind: 'add' };
  const member = members.find(({ name }) => typedAt(memberDraft(agentId, name)) !== null);
  return member === undefined ? null : { kind: 'edit', member };
}

/** Further agents in the same machine, and agents in other machines that this one may ask. */
export function MembersPage() {
  const agent = useAgent();
  const { hasMembers } = abilitiesOf(agent.runtime_kind);
  return (
    <TabPage width="wide" title="Members" description="Agents that work together: in this machine, and in others.">
      <div className="grid items-start gap-5 2xl:grid-cols-[minmax(0,1.2fr)_minmax(0,1fr)]">
        {hasMembers ? (
          <MembersSection />
        ) : (
          <Section title="In this machine">
            <EmptyState Icon={Users} title="This runtime holds a single agent">
              {runtimeNames[agent.runtime_kind]} has one agent in each machine. Agents of other machines can work with
              it: name them as its peers below.
            </EmptyState>
          </Section>
        )}
        <PeersSection agent={agent} />
      </div>
    </TabPage>
  );
}

function MembersSection() {
  const { id, name } = useAgent();
  const mayChange = useMay('agents:write');
  const members = useQuery(membersQuery(id));
  const [chosen, setOpen] = useState<Open | null>();
  const open = chosen === undefined ? openOf(id, members.data ?? []) : chosen;
  const close = (): void => {
    if (open !== null && open.kind !== 'remove')
      keepTyped(memberDraft(id, open.kind === 'edit' ? open.member.name : undefined), null);
    setOpen(null);
  };
  const add = (
    <Button variant="primary" onClick={() => setOpen({ kind: 'add' })}>
      <Plus aria-hidden className="size-4" />
      Add member
    </Button>
  );
  return (
    <Section
      title="In this machine"
      description="Each has a model, instructions, a folder and conversations of its own. They share this agent’s machine, files and keys: what one can do, the others can."
      actions={mayChange && (members.data?.length ?? 0) > 0 && add}
    >
      <Loaded query={members}>
        {(data) =>
          data.length === 0 ? (
            <EmptyState Icon={Users} title="No members yet" action={mayChange && add}>
              Give {name.slice(0, 60)} colleagues, each with a task of its own: one who researches, one who writes.
            </EmptyState>
          ) : (
            <ul aria-label="Members" className="divide-y divide-line">
              {data.map((member) => (
                <MemberRow
                  key={member.name}
                  member={member}
                  onEdit={() => setOpen({ kind: 'edit', member })}
                  onRemove={() => setOpen({ kind: 'remove', member })}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {open?.kind === 'add' && <MemberDialog onClose={close} taken={members.data ?? []} />}
      {open?.kind === 'edit' && <MemberDialog member={open.member} onClose={close} taken={[]} />}
      {open?.kind === 'remove' && <RemoveMember agentId={id} member={open.member} onClose={close} />}
    </Section>
  );
}

interface RemoveMemberProps {
  readonly agentId: string;
  readonly member: AgentMember;
  readonly onClose: () => void;
}

function RemoveMember({ agentId, member: { name, workspace }, onClose }: RemoveMemberProps) {
  const queryClient = useQueryClient();
  return (
    <ConfirmDialog
      title={`Remove ${name}?`}
      action="Remove member"
      run={() => change(() => lodge.members.delete(agentId, name))}
      onDone={() => {
        toast(`${name} is removed.`);
        void queryClient.invalidateQueries({ queryKey: ['agent', agentId] });
      }}
      onClose={onClose}
    >
      Its folder {workspace}, with all files in it, and its conversations go with it.
    </ConfirmDialog>
  );
}
