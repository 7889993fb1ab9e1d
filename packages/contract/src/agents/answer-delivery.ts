import { Type } from 'typebox';
import type { Static } from 'typebox';
import { channelInputNames, deliverTargets } from '@lodge/domain';
import { onlyWhere, where, withRules } from '../rules.ts';
import { oneOf, patterns } from '../text.ts';

const conversationId = Type.String({ minLength: 1, maxLength: 500, pattern: patterns.text });

/**
 * The destination of an answer that nobody waits for. `none` says where such an answer is kept, and `event` names the event
 * that may carry it.
 */
export const answerDelivery = (none: string, event: string) =>
  Type.Object(
    {
      to: oneOf(deliverTargets, {
        description: `\`none\`: ${none}. \`channel\`: it is said in a conversation. \`webhook\`: the event \`${event}\` has it.`,
      }),
      channel: Type.Optional(oneOf(channelInputNames, { description: 'With `to: "channel"`.' })),
      conversation: Type.Optional({
        ...conversationId,
        description:
          'With `to: "channel"`: the id of a conversation that wrote to the agent there, as `GET /v1/agents/:id/messages` shows it.',
      }),
    },
    { additionalProperties: false, examples: [{ to: 'channel', channel: 'telegram', conversation: '4711' }] },
  );
export type AnswerDelivery = Static<ReturnType<typeof answerDelivery>>;

/** The same as it is set: with a channel and its conversation where it goes to one. */
export const deliveryInput = (delivery: ReturnType<typeof answerDelivery>) =>
  withRules(
    delivery,
    where('to', 'channel', { required: ['channel', 'conversation'] }),
    onlyWhere('to', 'channel', { channel: false, conversation: false }),
  );
