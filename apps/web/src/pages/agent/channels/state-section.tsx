import type { Channel } from '@lodge/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { FactList } from '../../../components/shown/facts.tsx';
import { Failure, Notice } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import { Time } from '../../../components/time.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { Stranger } from '../answers/stranger.tsx';
import { channelTitles } from './channel-names.ts';
import { channelChanges, keptOf } from './queries.ts';
import { statusWords } from './status.ts';

interface StateProps {
  readonly channel: Channel;
  readonly mayChange: boolean;
  readonly onRemoved: () => void;
}

/** How the channel is, and the verbs for all of it. */
export function StateSection({ channel, mayChange, onRemoved }: StateProps) {
  const { status, status_reason: reason, identity, delivery } = channel;
  const { label, tone } = statusWords(status);
  return (
    <Section title="State" actions={mayChange && <Verbs channel={channel} onRemoved={onRemoved} />}>
      <div className="flex flex-col gap-4 px-5 py-5 sm:px-6">
        <FactList
          facts={[
            ['Status', <Badge tone={tone}>{label}</Badge>],
            ['Known there as', identity === null ? null : <Stranger name={identity.name} />],
            ['Last message in', whenOf(channel.last_inbound_at)],
            ['Last message out', whenOf(channel.last_outbound_at)],
            ['Changed', channel.updated_at === null ? null : <Time value={channel.updated_at} />],
          ]}
        />
        {reason !== null && <Notice kind={status === 'error' ? 'error' : 'warning'}>{reason.message}</Notice>}
        {delivery.note !== null && <Notice kind="warning">{delivery.note}</Notice>}
      </div>
    </Section>
  );
}

const whenOf = (at: string | null) => (at === null ? 'None yet' : <Time value={at} />);

function Verbs({ channel, onRemoved }: Omit<StateProps, 'mayChange'>) {
  const { agent_id: agentId, channel: name, enabled } = channel;
  const title = channelTitles[name];
  const changes = channelChanges(agentId, name);
  const queryClient = useQueryClient();
  const [removing, setRemoving] = useState(false);
  const again = () => queryClient.invalidateQueries({ queryKey: ['agent', agentId, 'channels'] });
  const restart = useMutation({ mutationFn: changes.restart, onSettled: again });
  const turn = useMutation({
    mutationFn: () => changes.put({ ...keptOf(channel), enabled: !enabled }),
    onSuccess: () => toast(enabled ? `${title} is off.` : `${title} is on.`),
    onSettled: again,
  });
  return (
    <div className="flex flex-col items-end gap-2">
      <div className="flex flex-wrap gap-2">
        {enabled && (
          <Button small pending={restart.isPending} onClick={() => restart.mutate()}>
            Restart
          </Button>
        )}
        <Button small pending={turn.isPending} onClick={() => turn.mutate()}>
          {enabled ? 'Turn off' : 'Turn on'}
        </Button>
        <Button small variant="ghost-danger" onClick={() => setRemoving(true)}>
          Remove
        </Button>
      </div>
      <Failure error={restart.error ?? turn.error} />
      {removing && (
        <ConfirmDialog
          title={`Remove ${title}?`}
          action={`Remove ${title}`}
          run={changes.remove}
          onClose={() => setRemoving(false)}
          onDone={() => {
            toast(`${title} is removed.`);
            void again();
            onRemoved();
          }}
        >
          The agent answers nobody there any more. Its tokens, the people who were let in and the list of its messages
          are deleted here.
        </ConfirmDialog>
      )}
    </div>
  );
}
