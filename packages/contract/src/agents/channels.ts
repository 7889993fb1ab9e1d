import { Type } from 'typebox';
import type { Static } from 'typebox';
import { channelNames, channelReasonCodes, channelStatuses } from '@lodge/domain';
import { AgentParams } from './agent-requests.ts';
import { aliasWords, ChannelAccess, VerifyQuery } from './channel-input.ts';
import { SecretFingerprint } from '../fingerprints.ts';
import { namedEvent, streamOf } from '../events/stream.ts';
import { Timestamp, nullable, oneOf, patterns, wholeList } from '../text.ts';

const ChannelReason = Type.Object(
  { code: oneOf(channelReasonCodes), message: Type.String() },
  { title: 'ChannelReason', additionalProperties: false },
);
const Identity = Type.Object(
  { id: Type.String(), name: Type.String() },
  { title: 'ChannelIdentity', additionalProperties: false, description: 'Who the agent is on the platform.' },
);
const channel = oneOf(channelNames);

const Credential = Type.Object(
  { set: Type.Literal(true), last4: Type.String(), fingerprint: SecretFingerprint, created_at: Timestamp },
  { additionalProperties: false },
);

export const Channel = Type.Object(
  {
    object: Type.Literal('channel'),
    agent_id: Type.String({ pattern: patterns.agentId }),
    channel,
    enabled: Type.Boolean(),
    status: oneOf(channelStatuses, {
      description:
        '`disconnected` is tried again by itself; `error` waits for a person, and `status_reason` says for what.',
    }),
    status_reason: nullable(
      Type.Object(
        { code: oneOf(channelReasonCodes), message: Type.String(), at: Timestamp },
        { additionalProperties: false },
      ),
    ),
    identity: nullable(Identity),
    credentials: Type.Record(Type.String(), Credential, {
      description: 'Secrets that are stored, by name, with their last four characters.',
    }),
    access: ChannelAccess,
    delivery: Type.Object(
      {
        held_by: Type.Literal('host'),
        note: nullable(Type.String({ description: 'What cannot be proved, or is restricted, though it works.' })),
      },
      { additionalProperties: false, description: 'How messages come: the connection is held on the host.' },
    ),
    last_inbound_at: nullable(Timestamp),
    last_outbound_at: nullable(Timestamp),
    created_at: nullable(Timestamp),
    updated_at: nullable(Timestamp),
  },
  { title: 'Channel', additionalProperties: false },
);
export type Channel = Static<typeof Channel>;

export const ChannelList = wholeList(Channel, 'ChannelList');

export const DeletedChannel = Type.Object(
  { object: Type.Literal('channel.deleted'), channel, deleted: Type.Literal(true) },
  { title: 'DeletedChannel', additionalProperties: false },
);

export const ChannelParams = Type.Object({
  ...AgentParams.properties,
  channel: Type.String({
    description: `${channelNames.join(', ')}; ${aliasWords}.`,
    examples: ['telegram'],
  }),
});

export const PutChannelQuery = Type.Object(VerifyQuery.properties, { additionalProperties: false });

export const TestChannel = Type.Object(
  {
    conversation: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: patterns.text,
        description: 'A `conversation.id` of `GET /v1/agents/:id/messages`: a test message is sent there.',
      }),
    ),
  },
  {
    title: 'TestChannel',
    additionalProperties: false,
    description: 'Nothing: the platform is asked, and told nothing.',
    examples: [{}],
  },
);

export const ChannelTest = Type.Object(
  {
    object: Type.Literal('channel_test'),
    channel,
    ok: Type.Boolean({ description: 'Whether the platform said nothing against it.' }),
    status: oneOf(channelStatuses, { description: "The channel's." }),
    identity: nullable(Identity),
    reason: nullable(ChannelReason),
    message_queued: Type.Boolean(),
  },
  { title: 'ChannelTest', additionalProperties: false },
);
export type ChannelTest = Static<typeof ChannelTest>;

const senderStates = ['pending', 'approved', 'denied'] as const;

export const ApprovalsQuery = Type.Object(
  { state: Type.Optional(oneOf(senderStates, { description: 'Only those in this state.' })) },
  { additionalProperties: false },
);

export const Approval = Type.Object(
  {
    object: Type.Literal('approval'),
    channel,
    sender: Type.Object(
      { id: Type.String(), name: Type.String({ description: "The sender's own text." }) },
      { additionalProperties: false },
    ),
    state: oneOf(senderStates),
    code: nullable(Type.String({ description: 'What the sender was told; null once it is decided.' })),
    asked_at: Timestamp,
    decided_at: nullable(Timestamp),
  },
  { title: 'Approval', additionalProperties: false },
);
export type Approval = Static<typeof Approval>;

export const ApprovalList = wholeList(Approval, 'ApprovalList');

export const DecideApproval = Type.Object(
  {
    code: Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: patterns.text,
      description: 'The code that the sender was told.',
    }),
    action: oneOf(['approve', 'deny']),
  },
  { title: 'DecideApproval', additionalProperties: false, examples: [{ code: 'K7QM2X', action: 'approve' }] },
);

export const PairWhatsApp = Type.Object(
  {
    phone_number: Type.Optional(
      Type.String({
        pattern: patterns.phoneNumber,
        description: 'With its country: a code to type in on the phone is asked for instead of one to scan.',
        examples: ['+4915112345678'],
      }),
    ),
  },
  {
    title: 'PairWhatsApp',
    additionalProperties: false,
    description: 'Nothing: a code to scan is asked for.',
    examples: [{}],
  },
);

export const Pairing = Type.Object(
  {
    object: Type.Literal('pairing'),
    channel,
    status: oneOf(['pending', 'connected', 'expired', 'failed']),
    reason: nullable(ChannelReason),
    qr: nullable(Type.String({ description: 'What the code to scan says; null while there is none.' })),
    qr_png: nullable(Type.String({ description: 'The code to scan as a picture, a data URL.' })),
    pairing_code: nullable(Type.String({ description: 'The code to type in on the phone.' })),
    expires_at: nullable(Timestamp),
    attempt: Type.Integer({ description: 'Rises with each code.' }),
  },
  { title: 'Pairing', additionalProperties: false },
);
export type Pairing = Static<typeof Pairing>;

export const PairingStreamEvent = streamOf('PairingStreamEvent', [namedEvent('pairing', Pairing)]);

export const StartOAuth = Type.Object(
  {
    redirect_url: Type.Optional(
      Type.String({
        maxLength: 2000,
        pattern: patterns.webUrl,
        description: 'Where the page that ends the consent leads on to.',
        examples: ['https://app.example.com/settings'],
      }),
    ),
    login_hint: Type.Optional(
      Type.String({
        minLength: 3,
        maxLength: 320,
        pattern: patterns.text,
        description: 'The address that the consent is for.',
        examples: ['bot@example.com'],
      }),
    ),
  },
  { title: 'StartOAuth', additionalProperties: false, examples: [{ login_hint: 'bot@example.com' }] },
);

export const OAuthSession = Type.Object(
  {
    object: Type.Literal('oauth_session'),
    id: Type.String(),
    channel: Type.Literal('gmail'),
    status: Type.Literal('pending'),
    authorization_url: Type.String({ description: "Open it in the browser of the mailbox's owner." }),
    state: Type.String(),
    expires_at: Timestamp,
  },
  { title: 'OAuthSession', additionalProperties: false },
);
