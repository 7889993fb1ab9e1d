import type { Channel } from '@lodge/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useFormKey } from '../../../components/form/use-typed.ts';
import { Approvals } from './approvals.tsx';
import type { ChannelName } from './channel-names.ts';
import { DecidedPeople } from './decided-people.tsx';
import { Guide } from './guide.tsx';
import { MailboxSection } from './mailbox-section.tsx';
import { PairingSection } from './pairing-section.tsx';
import { SettingsForm, channelDraft } from './settings-form.tsx';
import { StateSection } from './state-section.tsx';
import { TestSection } from './test-section.tsx';

interface DetailProps {
  readonly agentId: string;
  readonly name: ChannelName;
  readonly channel: Channel | undefined;
  readonly mayChange: boolean;
  readonly onRemoved: () => void;
}

/** One channel: how it is, what it waits for, who may write, and the platform's steps beside it. */
export function ChannelDetail({ agentId, name, channel, mayChange, onRemoved }: DetailProps) {
  const queryClient = useQueryClient();
  const isNew = channel === undefined;
  const [formKey, discard] = useFormKey(
    channel && [channel.created_at, channel.access, channel.credentials],
    channelDraft(agentId, name),
  );
  const onSaved = async (): Promise<void> => {
    await queryClient.invalidateQueries({ queryKey: ['agent', agentId, 'channels'] });
    // How the new channel is, and what it waits for, stands above the form.
    if (isNew) scrollTo({ top: 0 });
  };
  return (
    <div className="grid items-start gap-6 xl:grid-cols-[minmax(0,1fr)_21rem]">
      <div className="flex min-w-0 flex-col gap-6">
        {channel !== undefined && <Live channel={channel} mayChange={mayChange} onRemoved={onRemoved} />}
        {mayChange && (
          <SettingsForm
            key={formKey}
            discard={discard}
            agentId={agentId}
            name={name}
            channel={channel}
            onSaved={() => void onSaved()}
          />
        )}
      </div>
      <Guide channel={name} isNew={isNew} />
    </div>
  );
}

function Live({
  channel,
  mayChange,
  onRemoved,
}: {
  readonly channel: Channel;
  readonly mayChange: boolean;
  readonly onRemoved: () => void;
}) {
  const { agent_id: agentId, channel: name, enabled, status } = channel;
  const asks = mayChange && enabled;
  return (
    <>
      <StateSection channel={channel} mayChange={mayChange} onRemoved={onRemoved} />
      {asks && name === 'whatsapp' && status !== 'connected' && <PairingSection agentId={agentId} />}
      {asks && name === 'gmail' && <MailboxSection channel={channel} />}
      {channel.access.mode === 'pairing' && <Approvals agentId={agentId} channel={name} mayChange={mayChange} />}
      <DecidedPeople agentId={agentId} channel={name} />
      {asks && status !== 'pending_pairing' && <TestSection channel={channel} />}
    </>
  );
}
