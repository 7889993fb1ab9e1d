import { Type } from 'typebox';
import type { Static } from 'typebox';
import { channelInputNames, channelNames, conversationKinds, messageStates } from '@lodge/domain';
import { AgentParams } from './agent-requests.ts';
import { Timestamp, listOf, nullable, oneOf, pageCursor, patterns } from '../text.ts';

const text = (description: string) =>
  Type.Optional(nullable(Type.String({ description: `${description} Only with \`content=true\`.` })));

export const ChannelMessage = Type.Object(
  {
    object: Type.Literal('channel_message'),
    id: Type.String(),
    agent_id: Type.String({ pattern: patterns.agentId }),
    channel: oneOf(channelNames),
    conversation: Type.Object({ id: Type.String(), kind: oneOf(conversationKinds) }, { additionalProperties: false }),
    sender: Type.Object(
      { id: Type.String(), name: Type.String({ description: "The sender's own text." }) },
      { additionalProperties: false },
    ),
    state: oneOf(messageStates, {
      description:
        '`unknown`: an answer was sent, and whether it arrived cannot be told. `refused`: the access of the channel did not let it in.',
    }),
    reason: nullable(Type.String({ description: 'Why it is `failed`, `unknown` or `refused`.' })),
    attempts: Type.Integer({ description: 'How often a turn was begun for it.' }),
    received_at: Timestamp,
    answered_at: nullable(Timestamp),
    text: text('What was written.'),
    answer: text('What the agent answered.'),
  },
  { title: 'ChannelMessage', additionalProperties: false },
);
export type ChannelMessage = Static<typeof ChannelMessage>;

export const ChannelMessageList = listOf(ChannelMessage, 'ChannelMessageList');

export const ListMessagesQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Messages per page.' })),
    cursor: pageCursor(),
    channel: Type.Optional(oneOf(channelInputNames, { description: 'Only messages of this channel.' })),
    state: Type.Optional(oneOf(messageStates, { description: 'Only messages in this state.' })),
    content: Type.Optional(
      oneOf(['true', 'false'], { description: '`true`: with what was written and answered.', default: 'false' }),
    ),
  },
  { additionalProperties: false },
);

export const MessageParams = Type.Object({
  ...AgentParams.properties,
  message: Type.String({ description: "The message's id." }),
});
