import { Type } from 'typebox';
import type { Static } from 'typebox';
import { hookMessageStates, maxTemplateChars, signatureEncodings, signatureKinds } from '@lodge/domain';
import { AgentParams } from './agent-requests.ts';
import { SecretFingerprint } from '../fingerprints.ts';
import { answerDelivery, deliveryInput } from './answer-delivery.ts';
import { onlyWhere, where, withRules } from '../rules.ts';
import { Timestamp, listOf, nullable, oneOf, pageCursor, patterns, wholeList } from '../text.ts';

const name = Type.String({ minLength: 1, maxLength: 100, pattern: patterns.text, examples: ['GitHub issues'] });
const template = Type.String({
  minLength: 1,
  maxLength: maxTemplateChars,
  pattern: patterns.text,
  description:
    'What the agent is told, with fields of the JSON by their paths, such as `{{issue.title}}`; `{{list.0}}` is the first of a list. Each is put in as JSON on one line, in at most 4 KiB, all together in 16 KiB. Without a template the agent gets the whole JSON, in at most 16 KiB.',
  examples: ['A new issue {{issue.number}}: {{issue.title}}. Its text: {{issue.body}}. Suggest labels for it.'],
});
const conversation = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: patterns.text,
  description:
    "The agent's conversation that the messages go on with, as `user` names it in a chat. Without it the hook has one of its own.",
});
const deliver = answerDelivery("a line of it is in the agent's log", 'hook.answered');
const type = oneOf(signatureKinds, {
  description:
    '`github`: `X-Hub-Signature-256`. `stripe`: `Stripe-Signature`, at most 5 minutes old. `standard`: Standard Webhooks. `hmac`: HMAC-SHA256 of the body in a header of your own.',
});
const header = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[A-Za-z0-9-]+$',
  description: 'With type `hmac`: the header of the signature.',
  examples: ['X-Signature'],
});
const encoding = oneOf(signatureEncodings, { description: 'With type `hmac`.', default: 'hex' });
const prefix = Type.String({
  maxLength: 32,
  pattern: '^[\\u0020-\\u007e]*$',
  description: 'With type `hmac`: what stands before the signature, such as `sha256=`.',
  default: '',
});

const HookSignature = Type.Object(
  {
    type,
    header: Type.Optional(header),
    encoding: Type.Optional(encoding),
    prefix: Type.Optional(prefix),
    secret: Type.Object(
      { set: Type.Literal(true), last4: Type.String(), fingerprint: SecretFingerprint },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);

const fields = {
  object: Type.Literal('hook'),
  id: Type.String(),
  agent_id: Type.String({ pattern: patterns.agentId }),
  name,
  last4: Type.String({ description: "The end of the hook's token." }),
  template: Type.Optional(template),
  conversation: Type.Optional(conversation),
  deliver,
  signature: Type.Optional(HookSignature),
  created_at: Timestamp,
};

export const Hook = Type.Object(fields, { title: 'Hook', additionalProperties: false });
export type Hook = Static<typeof Hook>;

export const HookList = wholeList(Hook, 'HookList');

export const CreatedHook = Type.Object(
  {
    ...fields,
    token: Type.String({ description: 'Shown this once: whoever has it may send messages to the agent.' }),
    url: Type.String({ description: 'Where the third party sends its requests, with the token in it.' }),
  },
  { title: 'CreatedHook', additionalProperties: false },
);

const HookSignatureInput = withRules(
  Type.Object(
    {
      type,
      secret: Type.String({
        minLength: 8,
        maxLength: 512,
        pattern: patterns.text,
        writeOnly: true,
        description: 'What the sender signs with. Kept encrypted, never given back.',
        examples: ['<SECRET>'],
      }),
      header: Type.Optional(header),
      encoding: Type.Optional(encoding),
      prefix: Type.Optional(prefix),
    },
    { additionalProperties: false },
  ),
  where('type', 'hmac', { required: ['header'] }),
  onlyWhere('type', 'hmac', { header: false, encoding: false, prefix: false }),
);
export type HookSignatureInput = Static<typeof HookSignatureInput>;

export const CreateHook = Type.Object(
  {
    name,
    template: Type.Optional(template),
    conversation: Type.Optional(conversation),
    deliver: Type.Optional(deliveryInput(deliver)),
    signature: Type.Optional(HookSignatureInput),
  },
  {
    title: 'CreateHook',
    additionalProperties: false,
    examples: [
      {
        name: 'GitHub issues',
        template: 'Triage issue {{issue.number}}: {{issue.title}}',
        signature: { type: 'github', secret: '<SECRET>' },
      },
    ],
  },
);
export type CreateHook = Static<typeof CreateHook>;

export const HookMessage = Type.Object(
  {
    object: Type.Literal('hook_message'),
    id: Type.String(),
    hook_id: Type.String(),
    state: oneOf(hookMessageStates, {
      description:
        '`skipped`: the agent did not run, and its `lifecycle.wake_on_message` is false. `failed`: it has failed for good, or its answer did not get where it belongs.',
    }),
    attempts: Type.Integer({
      description: 'How often its turn was begun; after a failure it is tried again up to two times.',
    }),
    reason: nullable(Type.String({ description: 'Why it is not `answered`, or what came of the attempt before.' })),
    received_at: Timestamp,
    started_at: nullable(Timestamp),
    ended_at: nullable(Timestamp),
  },
  { title: 'HookMessage', additionalProperties: false },
);
export type HookMessage = Static<typeof HookMessage>;

export const HookMessageList = listOf(HookMessage, 'HookMessageList');

export const HookParams = Type.Object({
  ...AgentParams.properties,
  hook: Type.String({ description: "The hook's id." }),
});

export const HookTokenParams = Type.Object({ token: Type.String({ description: "The hook's token." }) });

export const ListHookMessagesQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Messages per page.' })),
    cursor: pageCursor(),
  },
  { additionalProperties: false },
);

export const DeletedHook = Type.Object(
  { object: Type.Literal('hook.deleted'), id: Type.String(), deleted: Type.Literal(true) },
  { title: 'DeletedHook', additionalProperties: false },
);

export const HookReceipt = Type.Object(
  {
    object: Type.Literal('hook_receipt'),
    message_id: nullable(Type.String({ description: 'Null: the request only asked whether the hook is there.' })),
    repeated: Type.Boolean({ description: 'The delivery came before: it is the same message.' }),
  },
  { title: 'HookReceipt', additionalProperties: false },
);
