import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ChoiceField } from '../../../components/form/choice-field.tsx';
import { SelectField, TextField } from '../../../components/form/field.tsx';
import type { Problems } from '../../../components/form/use-form.ts';
import { channelNames, channelTitles } from '../channels/channel-names.ts';
import { conversationsQuery } from './conversations.ts';
import type { Conversation } from './conversations.ts';
import { anotherConversation, conversationValue } from './deliver.ts';
import type { Deliver, DeliverName } from './deliver.ts';
import { cut } from './stranger.tsx';

interface DeliverFieldProps {
  readonly agentId: string;
  readonly deliver: Deliver;
  /** The fate of an answer that goes nowhere. */
  readonly kept: string;
  readonly problems: Problems<DeliverName>;
}

/** Where the answer goes: nowhere, into a conversation that wrote to the agent, or out with an event. */
export function DeliverField({ agentId, deliver, kept, problems }: DeliverFieldProps) {
  const [to, setTo] = useState(deliver.to);
  return (
    <>
      <ChoiceField
        legend="Where the answer goes"
        name="deliver_to"
        defaultValue={deliver.to}
        onChoose={setTo}
        choices={[
          { value: 'none', label: 'Nowhere', meaning: kept },
          { value: 'channel', label: 'Into a conversation', meaning: 'One that wrote to the agent on a channel.' },
          { value: 'webhook', label: 'Out with an event', meaning: 'To your webhooks and whoever follows the events.' },
        ]}
      />
      {to === 'channel' && <ConversationFields agentId={agentId} deliver={deliver} problems={problems} />}
    </>
  );
}

function ConversationFields({ agentId, deliver, problems }: Omit<DeliverFieldProps, 'kept'>) {
  const { data: known } = useQuery(conversationsQuery(agentId));
  const { channel, conversation } = deliver;
  const before =
    channel === undefined || conversation === undefined
      ? ''
      : conversationValue(channel === 'email' ? 'gmail' : channel, conversation);
  const [choice, setChoice] = useState(before);
  const isListed = known?.some((one) => conversationValue(one.channel, one.id) === before) ?? false;
  return (
    <>
      <SelectField
        label="Conversation"
        name="conversation_choice"
        value={choice}
        onChange={(event) => setChoice(event.target.value)}
        hint={known?.length === 0 ? 'Nobody wrote to the agent on a channel lately.' : undefined}
        error={problems.conversation_choice}
      >
        <option value="">Choose one</option>
        {before !== '' && !isListed && <option value={before}>{cut(before, 80)}</option>}
        {known?.map((one) => (
          <option key={conversationValue(one.channel, one.id)} value={conversationValue(one.channel, one.id)}>
            {wordsOf(one)}
          </option>
        ))}
        <option value={anotherConversation}>Another, by its id</option>
      </SelectField>
      {choice === anotherConversation && (
        <div className="grid gap-5 sm:grid-cols-[10rem_minmax(0,1fr)]">
          <SelectField label="Channel" name="conversation_channel">
            {channelNames.map((name) => (
              <option key={name} value={name}>
                {channelTitles[name]}
              </option>
            ))}
          </SelectField>
          <TextField
            label="Id of the conversation"
            name="conversation_id"
            maxLength={500}
            autoComplete="off"
            spellCheck={false}
            error={problems.conversation_id}
          />
        </div>
      )}
    </>
  );
}

const wordsOf = ({ channel, id, kind, lastSender }: Conversation): string =>
  `${channelTitles[channel]}: ${cut(lastSender, 40)} (${kind === 'group' ? 'group' : 'direct'}, ${cut(id, 40)})`;
