import {
  confirmationBounds as bounds,
  confirmationDecisions,
  confirmationKinds,
  confirmationMemories,
  confirmationStatuses,
} from '@lodge/domain';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Timestamp, listOf, nullable, oneOf, pageCursor, patterns } from '../text.ts';

const remember = oneOf(confirmationMemories, {
  description:
    '`conversation`: the same method and path, or tool, has the same decision in this conversation. `rule`: a rule of the agent says so from now on.',
});

export const Confirmation = Type.Object(
  {
    object: Type.Literal('confirmation'),
    id: Type.String({ examples: ['q3x8n2v7k1ab'] }),
    agent_id: Type.String({ examples: ['k7d2m9q4x1ab'] }),
    kind: oneOf(confirmationKinds),
    status: oneOf(confirmationStatuses, {
      description:
        '`allowed`: the call was not made yet. `sending`: it is under way. `failed`: it was allowed and could not be made. `unknown`: it may have been made, and is never repeated.',
    }),
    on: Type.String({ description: 'The words of rules for it.', examples: ['connection:stripe'] }),
    action: Type.String({
      description: "Lodge's own words.",
      examples: ['Send POST https://api.stripe.com/v1/refunds by the connection stripe.'],
    }),
    quoted: nullable(
      Type.String({
        description: `The agent's words: at most ${bounds.shownChars} characters. Signs that hide or reorder text are written as \\u….`,
      }),
    ),
    cut: Type.Boolean({ description: 'Whether `quoted` is only the beginning.' }),
    options: Type.Array(Type.String(), { description: 'The options of a question.' }),
    digest: Type.String({
      description: 'SHA-256 of the whole call as it is stored, in hex. It is sent as it is stored.',
    }),
    conversation: nullable(Type.String({ description: 'The conversation of the turn; null outside of one.' })),
    decision: nullable(oneOf(confirmationDecisions)),
    reason: nullable(Type.String({ description: "The owner's words about a decision." })),
    answer: nullable(Type.String({ description: "The owner's answer to a question." })),
    remember,
    requested_at: Timestamp,
    expires_at: Timestamp,
    decided_at: nullable(Timestamp),
    ended_at: nullable(Timestamp),
  },
  { title: 'Confirmation', additionalProperties: false },
);
export type Confirmation = Static<typeof Confirmation>;

export const ConfirmationList = listOf(Confirmation, 'ConfirmationList');

export const ListConfirmationsQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Confirmations per page.' }),
    ),
    cursor: pageCursor(),
    status: Type.Optional(oneOf(confirmationStatuses, { description: 'Only those in this status.' })),
    agent_id: Type.Optional(
      Type.String({ pattern: patterns.agentId, description: 'Only those of this agent.', examples: ['k7d2m9q4x1ab'] }),
    ),
  },
  { additionalProperties: false },
);

export const ConfirmationParams = Type.Object({
  confirmation: Type.String({ description: "The confirmation's id.", examples: ['q3x8n2v7k1ab'] }),
});

const words = { minLength: 1, maxLength: bounds.reasonChars, pattern: patterns.text };

export const DecideConfirmation = Type.Object(
  {
    decision: oneOf(confirmationDecisions),
    reason: Type.Optional(Type.String({ ...words, description: 'For the agent.' })),
    answer: Type.Optional(
      Type.String({ ...words, description: 'For a question that is allowed: one of its options, or other words.' }),
    ),
    remember: Type.Optional({ ...remember, default: 'none' }),
  },
  { title: 'DecideConfirmation', additionalProperties: false, examples: [{ decision: 'allow' }] },
);
