import type { Channel, ChannelTest } from '@lodge/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { SelectField } from '../../../components/form/field.tsx';
import { Failure, Notice } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import { conversationsQuery } from '../answers/conversations.ts';
import { cut } from '../answers/stranger.tsx';
import { channelTitles } from './channel-names.ts';
import { channelChanges } from './queries.ts';

/** Asks the platform now, and sends a test message to who wrote before. */
export function TestSection({ channel }: { readonly channel: Channel }) {
  const { agent_id: agentId, channel: name } = channel;
  const title = channelTitles[name];
  const id = useId();
  const queryClient = useQueryClient();
  const conversations = useQuery(conversationsQuery(agentId, name));
  const [conversation, setConversation] = useState('');
  const test = useMutation({
    mutationFn: (to: string) => channelChanges(agentId, name).test(to === '' ? {} : { conversation: to }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['agent', agentId, 'channels'] }),
  });
  const known = conversations.data ?? [];
  return (
    <Section title="Try it" description={`Asks ${title} whether all is well, now.`}>
      <div aria-labelledby={id} className="flex flex-col gap-5 px-5 py-5 sm:px-6">
        <SelectField
          label="Test message"
          value={conversation}
          onChange={(event) => setConversation(event.target.value)}
          hint={known.length === 0 ? `Nobody wrote on ${title} yet, so there is nobody to send one to.` : undefined}
        >
          <option value="">Send none</option>
          {known.map((one) => (
            <option key={one.id} value={one.id}>
              {`To ${cut(one.lastSender, 40)} (${one.kind === 'group' ? 'group' : 'direct'}, ${cut(one.id, 40)})`}
            </option>
          ))}
        </SelectField>
        {test.data !== undefined && <Result result={test.data} title={title} />}
        <Failure error={test.error} />
        <div>
          <Button pending={test.isPending} onClick={() => test.mutate(conversation)}>
            {conversation === '' ? 'Check now' : 'Check and send'}
          </Button>
        </div>
      </div>
    </Section>
  );
}

function Result({ result, title }: { readonly result: ChannelTest; readonly title: string }) {
  if (!result.ok) {
    return (
      <Notice kind="error" alert>
        {result.reason?.message ?? `${title} does not take the channel as it is.`}
      </Notice>
    );
  }
  return (
    <div role="status">
      <Notice kind="info">
        {`${title} says that all is well.`}
        {result.message_queued && ' The test message is on its way.'}
      </Notice>
    </div>
  );
}
