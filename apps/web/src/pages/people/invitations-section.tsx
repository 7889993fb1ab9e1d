import { useQuery, useQueryClient } from '@tanstack/react-query';
import { MailPlus } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import type { Invitation } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { Section } from '../../components/page.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toasts/toasts.tsx';
import { queries } from '../../queries.ts';

const nameOf = ({ email }: Invitation): string => email ?? 'Anyone with the link';

export function InvitationsSection() {
  const queryClient = useQueryClient();
  const invitations = useQuery(queries.invitations);
  const [deleting, setDeleting] = useState<Invitation>();
  return (
    <Section title="Invitations" description="An invitation works once, for seven days.">
      <Loaded query={invitations}>
        {(data) =>
          data.length === 0 ? (
            <EmptyState Icon={MailPlus} title="No invitations">
              Invite someone to give them an account on this Lodge.
            </EmptyState>
          ) : (
            <ul className="divide-y divide-line">
              {data.map((invitation) => (
                <InvitationRow key={invitation.id} invitation={invitation} onDelete={() => setDeleting(invitation)} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {deleting !== undefined && (
        <ConfirmDialog
          title="Delete this invitation?"
          action="Delete invitation"
          run={() => api.deleteInvitation(deleting.id)}
          onClose={() => setDeleting(undefined)}
          onDone={() => {
            toast('The invitation is deleted.');
            void queryClient.invalidateQueries(queries.invitations);
          }}
        >
          Its link stops working at once.
        </ConfirmDialog>
      )}
    </Section>
  );
}

function InvitationRow({ invitation, onDelete }: { invitation: Invitation; onDelete: () => void }) {
  const accepted = invitation.accepted_at !== null;
  const expired = Date.parse(invitation.expires_at) <= Date.now();
  return (
    <li className="flex items-center gap-x-4 px-5 py-4 sm:px-6">
      <div className="flex min-w-0 grow flex-col gap-0.5">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 font-medium">
          <span className="break-all">{nameOf(invitation)}</span>
          {invitation.role === 'viewer' && <Badge tone="quiet">Viewer</Badge>}
          {accepted && <Badge tone="good">Accepted</Badge>}
          {!accepted && <Badge tone={expired ? 'quiet' : 'warning'}>{expired ? 'Expired' : 'Waiting'}</Badge>}
        </p>
        <p className="text-[0.8125rem] text-muted">
          Made <Time value={invitation.created_at} />
          {!accepted && (
            <>
              {' '}
              · {expired ? 'expired' : 'expires'} <Time value={invitation.expires_at} />
            </>
          )}
        </p>
      </div>
      {!accepted && (
        <Button
          small
          variant="ghost-danger"
          aria-label={`Delete the invitation for ${nameOf(invitation)}`}
          onClick={onDelete}
          className="-mr-3"
        >
          Delete
        </Button>
      )}
    </li>
  );
}
