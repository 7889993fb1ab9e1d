/** Channels as their owners put them. */
import { Type } from 'typebox';
import type { Static, TObject } from 'typebox';
import { accessModes, channelAliases, channelCredentials, channelNames, groupModes, platformOf } from '@lodge/domain';
import type { ChannelName } from '@lodge/domain';
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
  {
    additionalProperties: false,
    description: 'Fields that are left out have their defaults: `pairing`, and groups by mention.',
  },
);

const put = {
  enabled: Type.Optional(Type.Boolean({ default: true, description: 'False: kept, and not connected.' })),
  access: Type.Optional(AccessInput),
};

/** The names that input alone may use. */
export const aliasWords = channelAliases
  .map(([alias, channel]) => `\`${alias}\` is another name for \`${channel}\``)
  .join(', ');

const secretsOf = (channel: ChannelName) =>
  Object.fromEntries(
    Object.entries(platformOf(channel).credentials).map(([name, { description, example }]) => [
      name,
      secret(description ?? 'Kept encrypted, never given back. Left out, the stored one stays.', [example]),
    ]),
  );

const listed = new Intl.ListFormat('en-GB');
const names = (each: readonly string[]): string => listed.format(each.map((name) => `\`${name}\``));

/** Which platforms need which secrets, as a sentence. */
function needs(): string {
  const groups = Object.entries(Object.groupBy(channelNames, (channel) => names(channelCredentials[channel])));
  const given = groups.filter(([secrets]) => secrets !== '');
  const needing = given.map(([secrets, of = []]) => `${names(of)} ${of.length > 1 ? 'need' : 'needs'} ${secrets}`);
  const paired = channelNames.filter((channel) => channelCredentials[channel].length === 0);
  return `${needing.join(', ')}; ${names(paired)} take no secret: they are paired.`;
}

/** The body of a PUT of any channel. */
export const PutChannel = Type.Object(
  { ...(Object.assign({}, ...channelNames.map(secretsOf)) as ReturnType<typeof secretsOf>), ...put },
  {
    title: 'PutChannel',
    additionalProperties: false,
    description: needs(),
    examples: [{ botToken: '123456:ABC', access: { mode: 'pairing' } }],
  },
);
/** Beside these it has the secrets of its platform, by their names. */
export type PutChannel = Static<TObject<typeof put>>;

/** No secret of a new agent is stored yet: its channels need all of theirs. */
function newChannel(channel: ChannelName) {
  const body = Type.Object({ ...secretsOf(channel), ...put }, { additionalProperties: false });
  const required = channelCredentials[channel];
  return required.length === 0 ? body : withRules(body, { required });
}

const newChannels = [...channelNames.map((channel) => [channel, channel] as const), ...channelAliases].map(
  ([name, channel]) => [name, newChannel(channel)] as const,
);

/** The channels of a new agent. */
export const ChannelsInput = withRules(
  Type.Partial(Type.Object(Object.fromEntries(newChannels)), {
    title: 'ChannelsInput',
    additionalProperties: false,
    description: `By channel, each as the body of its PUT; ${aliasWords}. Credentials are verified before the agent is made.`,
  }),
  ...channelAliases.map(([alias, channel]) => atMostOneOf(channel, alias)),
);
export type ChannelsInput = Static<typeof ChannelsInput>;

export const VerifyQuery = Type.Object({
  verify: Type.Optional(
    oneOf(['true', 'false'], { description: '`false`: no platform is asked whether new credentials are good.' }),
  ),
});
