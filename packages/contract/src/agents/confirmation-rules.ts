import { channelInputNames, confirmationLimits as limits, confirmationPolicies } from '@lodge/domain';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { oneOf, patterns } from '../text.ts';

const policy = (description: string) => oneOf(confirmationPolicies, { description });

const on = Type.String({
  minLength: 1,
  maxLength: limits.onChars,
  pattern: patterns.text,
  description:
    '`connection:<name>`, `tool:<name>` for a tool of Lodge, `messages`, `schedules`, `packages` or `command`.',
  examples: ['connection:stripe'],
});

const match = Type.String({
  minLength: 1,
  maxLength: limits.matchChars,
  pattern: patterns.text,
  description:
    'A pattern with `*` for any characters. For an `http` connection it is about the method and the path, without the query; for an `mcp` connection about the name of the tool; for a tool of Lodge about its name or the JSON of its arguments. A rule that restricts ignores case, and a slash at the end.',
  examples: ['POST /v1/refunds*'],
});

const rule = Type.Object(
  { on, match, policy: policy('`ask`: the call waits for a yes.') },
  { additionalProperties: false },
);

const destination = Type.Object(
  {
    channel: oneOf(channelInputNames),
    conversation: Type.String({
      minLength: 1,
      maxLength: 500,
      pattern: patterns.text,
      description: 'The id of a conversation that wrote to the agent there.',
      examples: ['8127361'],
    }),
  },
  { additionalProperties: false },
);

const deciders = Type.Array(
  Type.String({ minLength: 1, maxLength: limits.deciderChars, pattern: patterns.text, examples: ['telegram:8127361'] }),
  {
    maxItems: limits.deciders,
    description:
      'Ids of senders on channels who may decide there, each alone or behind the name of its channel. Nobody else can.',
  },
);

const expires = Type.String({
  maxLength: 8,
  pattern: patterns.text,
  description: 'Time until an undecided confirmation is closed, of 5 minutes to 30 days.',
  examples: ['24h'],
});

const firstCounts = 'The first one that fits counts.';

const fields = {
  rules: Type.Array(rule, { maxItems: limits.rules, description: firstCounts }),
  default: policy('The policy for every other call by a connection, and for tools of Lodge that change something.'),
  deliver: Type.Array(destination, {
    maxItems: limits.deliver,
    description: 'Conversations in which the owner is asked.',
  }),
  deciders,
  expires,
};

export const ConfirmationRules = Type.Object(fields, {
  title: 'ConfirmationRules',
  additionalProperties: false,
  description: 'Rules about the calls of the agent that need a yes. They are enforced on the host.',
});

export const ConfirmationRulesInput = Type.Object(
  {
    rules: Type.Array(
      Type.Object(
        { on, match: Type.Optional({ ...match, default: '*' }), policy: rule.properties.policy },
        { additionalProperties: false },
      ),
      { maxItems: limits.rules, description: firstCounts },
    ),
    default: Type.Optional({ ...fields.default, default: 'allow' }),
    deliver: Type.Optional(fields.deliver),
    deciders: Type.Optional(deciders),
    expires: Type.Optional({ ...expires, default: limits.expires }),
  },
  {
    additionalProperties: false,
    description: 'Rules about the calls of the agent that need a yes, given as a whole. In effect with the next call.',
    examples: [{ rules: [{ on: 'messages', match: '*', policy: 'ask' }], expires: '24h' }],
  },
);
export type ConfirmationRulesInput = Static<typeof ConfirmationRulesInput>;
