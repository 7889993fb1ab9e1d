import type { Approval } from '@lodge/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Code } from '../../../components/badge.tsx';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { Failure } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import { Loaded } from '../../../components/states.tsx';
import { Time } from '../../../components/time.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { channelTitles } from './channel-names.ts';
import type { ChannelName } from './channel-names.ts';
import { approvalsQuery, channelChanges, shownApprovals } from './queries.ts';
import { Stranger } from '../answers/stranger.tsx';

interface ApprovalsProps {
  readonly agentId: string;
  readonly channel: ChannelName;
  readonly mayChange: boolean;
}

/** People who wrote to the agent and wait for its owner, as they come. */
export function Approvals({ agentId, channel, mayChange }: ApprovalsProps) {
  const approvals = useQuery(approvalsQuery(agentId, channel, 'pending'));
  const title = channelTitles[channel];
  return (
    <Section
      title="People who ask to be let in"
      description="Compare the code with the one that the person was told. A code ends after a day."
    >
      <Loaded query={approvals}>
        {(data) =>
          data.length === 0 ? (
            <p className="px-5 py-4 text-muted sm:px-6">
              Nobody waits. Who writes to the agent on {title} for the first time appears here.
            </p>
          ) : (
            <>
              <ul aria-label={`People who wait on ${title}`} className="divide-y divide-line">
                {data.slice(0, shownApprovals).map((approval) => (
                  <ApprovalRow key={approval.sender.id} approval={approval} agentId={agentId} mayChange={mayChange} />
                ))}
              </ul>
              {data.length > shownApprovals && (
                <p className="border-t border-line px-5 py-3 text-muted sm:px-6">
                  {data.length - shownApprovals} others appear as you decide.
                </p>
              )}
            </>
          )
        }
      </Loaded>
    </Section>
  );
}

function ApprovalRow({
  approval,
  agentId,
  mayChange,
}: {
  readonly approval: Approval;
  readonly agentId: string;
  readonly mayChange: boolean;
}) {
  const { channel, code } = approval;
  const queryClient = useQueryClient();
  const [denying, setDenying] = useState(false);
  const { decide } = channelChanges(agentId, channel);
  const again = () => queryClient.invalidateQueries({ queryKey: ['agent', agentId, 'approvals'] });
  const letIn = useMutation({
    mutationFn: () => decide(code ?? '', 'approve'),
    onSuccess: () => toast('They are let in. They have to write again.'),
    // Also when it failed: somebody else may have decided.
    onSettled: again,
  });
  return (
    <li className="flex flex-col gap-3 px-5 py-4 sm:px-6">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-3">
        <Asker approval={approval} />
        {code !== null && <Code>{code}</Code>}
        {mayChange && code !== null && (
          <div className="flex gap-2">
            <Button small variant="primary" pending={letIn.isPending} onClick={() => letIn.mutate()}>
              Let in
            </Button>
            <Button small variant="ghost-danger" onClick={() => setDenying(true)}>
              Turn away
            </Button>
          </div>
        )}
      </div>
      <Failure error={letIn.error} />
      {denying && (
        <ConfirmDialog
          title="Turn this person away?"
          action="Turn away"
          run={() => decide(code ?? '', 'deny')}
          onClose={() => setDenying(false)}
          onDone={() => {
            toast('They are turned away.');
            void again();
          }}
        >
          What they write on {channelTitles[channel]} is refused from now on, and they are not told. This cannot be
          taken back.
        </ConfirmDialog>
      )}
    </li>
  );
}

function Asker({ approval: { sender, asked_at: asked } }: { readonly approval: Approval }) {
  return (
    <div className="flex min-w-0 grow basis-48 flex-col gap-1">
      <p className="font-medium">
        <Stranger name={sender.name} />
      </p>
      <p className="text-[0.8125rem] wrap-anywhere text-muted">
        {sender.id} · asked <Time value={asked} />
      </p>
    </div>
  );
}
