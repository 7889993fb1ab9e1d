/** Channels as their owners put them. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { accessModes, groupModes } from '@lodge/domain';
import { atMostOneOf, withRules } from '../rules.ts';
import { oneOf, patterns } from '../text.ts';

/** Most senders or conversations that an access names. */
const maxNamed = 500;
const platformId = (description: string) =>
  Type.String({ minLength: 1, maxLength: 200, pattern: patterns.text, description });

const secret = (description: string, examples: string[]) =>
  Type.Optional(
    Type.String({ minLength: 1, maxLength: 500, pattern: patterns.token, writeOnly: true, description, examples }),
  );

const groups = {
  mode: oneOf(groupModes, {
    description:
      '`allowlist`: in the groups of `allow`, and to those who may write directly. `open`: in any. `disabled`: in none.',
  }),
  allow: Type.Array(platformId("A group, by the platform's id."), { maxItems: maxNamed }),
  require_mention: Type.Boolean({ description: 'False: it answers what does not address it, too.' }),
};

const access = {
  mode: oneOf(accessModes, {
    description:
      'Who may write directly. `pairing`: somebody unknown gets a code that you approve. `allowlist`: `allow_from` alone. `open`: anybody. `disabled`: nobody.',
  }),
  allow_from: Type.Array(platformId("A sender, by the platform's id."), { maxItems: maxNamed, examples: [['U012']] }),
  per_sender_hourly: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    description: 'Messages of one sender in an hour that are answered; more are refused.',
  }),
};

export const ChannelAccess = Type.Object(
  { ...access, groups: Type.Object(groups, { additionalProperties: false }) },
  { title: 'ChannelAccess', additionalProperties: false },
);

const AccessInput = Type.Partial(
  Type.Object({ ...access, groups: Type.Partial(Type.Object(groups), { additionalProperties: false }) }),
  { additionalProperties: false, description: 'What is left out has its default: `pairing`, and groups by mention.' },
);

const put = {
  enabled: Type.Optional(Type.Boolean({ default: true, description: 'False: kept, and not connected.' })),
  access: Type.Optional(AccessInput),
};
const botToken = (example: string) => ({
  botToken: secret('Kept encrypted, never given back. Left out, the stored one stays.', [example]),
});
const appToken = { appToken: secret('For Socket Mode. Left out, the stored one stays.', ['xapp-1-A0-1-abc']) };
const body = <Secrets extends Record<string, ReturnType<typeof secret>>>(secrets: Secrets) =>
  Type.Object({ ...secrets, ...put }, { additionalProperties: false });

/** The body of a PUT, by channel. */
export const channelBodies = {
  slack: body({ ...appToken, ...botToken('xoxb-1-abc') }),
  discord: body(botToken('MTA.abc.def')),
  telegram: body(botToken('123456:ABC')),
  whatsapp: body({}),
  gmail: body({}),
} as const;

/** The body of a PUT of any channel. */
export const PutChannel = Type.Object(
  { ...appToken, ...botToken('123456:ABC'), ...put },
  {
    title: 'PutChannel',
    additionalProperties: false,
    description:
      '`slack` needs `appToken` and `botToken`, `discord` and `telegram` need `botToken`; `whatsapp` and `gmail` take no secret: they are paired.',
    examples: [{ botToken: '123456:ABC', access: { mode: 'pairing' } }],
  },
);
export type PutChannel = Static<typeof PutChannel>;

/** No secret of a new agent is stored yet: its channels need all of theirs. */
const newChannels = {
  ...channelBodies,
  slack: withRules(channelBodies.slack, { required: ['appToken', 'botToken'] }),
  discord: withRules(channelBodies.discord, { required: ['botToken'] }),
  telegram: withRules(channelBodies.telegram, { required: ['botToken'] }),
};

/** The channels of a new agent. */
export const ChannelsInput = withRules(
  Type.Partial(Type.Object({ ...newChannels, email: newChannels.gmail }), {
    title: 'ChannelsInput',
    additionalProperties: false,
    description:
      'By channel, each as the body of its PUT; `email` is another name for `gmail`. Credentials are verified before the agent is made.',
  }),
  atMostOneOf('gmail', 'email'),
);
export type ChannelsInput = Static<typeof ChannelsInput>;

export const VerifyQuery = Type.Object({
  verify: Type.Optional(
    oneOf(['true', 'false'], { description: '`false`: no platform is asked whether new credentials are good.' }),
  ),
});
