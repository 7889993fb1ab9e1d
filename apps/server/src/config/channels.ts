/**
 * Where messaging platforms are reached. Only the operator may set these: a tenant could send Lodge's requests into the
 * host's network.
 */
import { optional, required } from './setting.ts';
import { fail, file, integer, matching, origin } from './values.ts';

const platform = (name: string, url: string, what: string) =>
  optional(
    name,
    'http(s) URL without a path',
    `\`${url}\``,
    `Where ${what} is reached, when that is not the platform itself (a proxy, a server of one's own).`,
    origin,
  );

/** Ids as Pub/Sub takes them: a letter first, 3 to 255 characters. */
const resourceNames = {
  topics: /^projects\/[a-z][a-z0-9:.-]{4,62}\/topics\/[A-Za-z][\w.~+%-]{2,254}$/,
  subscriptions: /^projects\/[a-z][a-z0-9:.-]{4,62}\/subscriptions\/[A-Za-z][\w.~+%-]{2,254}$/,
} as const;

export const channelSettings = {
  telegramApi: platform('LODGE_TELEGRAM_API', 'https://api.telegram.org', "Telegram's Bot API"),
  slackApi: platform('LODGE_SLACK_API', 'https://slack.com', "Slack's Web API"),
  discordApi: platform('LODGE_DISCORD_API', 'https://discord.com', "Discord's REST API"),
  googleApi: platform('LODGE_GOOGLE_API', 'https://gmail.googleapis.com', 'the Gmail API'),
  googleOauth: platform('LODGE_GOOGLE_OAUTH', 'https://oauth2.googleapis.com', "Google's OAuth"),
  googleConsent: platform('LODGE_GOOGLE_CONSENT', 'https://accounts.google.com', "Google's consent page"),
  googlePubsub: platform('LODGE_GOOGLE_PUBSUB', 'https://pubsub.googleapis.com', "Google's Pub/Sub"),
  googleClientId: optional(
    'LODGE_GOOGLE_CLIENT_ID',
    'id of an OAuth client',
    'no agent has a Gmail channel',
    'The OAuth client by which people let agents read and send their mail.',
    matching(/^[\w.-]{1,200}$/, 'an id such as 1234-abcd.apps.googleusercontent.com'),
  ),
  googleClientSecret: {
    ...optional(
      'LODGE_GOOGLE_CLIENT_SECRET',
      'text',
      'no agent has a Gmail channel',
      "The client's secret.",
      matching(/^[\w.-]{1,200}$/, 'the secret of an OAuth client'),
    ),
    secret: true as const,
  },
  gmailPollSeconds: required(
    'LODGE_GMAIL_POLL_SECONDS',
    'seconds, 1..3600',
    '15',
    'How often a mailbox is looked at. At 15 s it uses 8 of the 6,000 units a minute that Google allows it. With push every 5 minutes, or as often where this is rarer, while notices come.',
    integer(1, 3600),
  ),
  whatsappMedia: optional(
    'LODGE_WHATSAPP_MEDIA',
    'http(s) URL without a path',
    '`https://mmg.whatsapp.net`',
    'Where files of WhatsApp are fetched and put. `http` only to this machine.',
    mediaOrigin,
  ),
  gmailPubsubTopic: optional(
    'LODGE_GMAIL_PUBSUB_TOPIC',
    'projects/<project>/topics/<id>',
    'no push',
    'Topic to which Gmail publishes that a mailbox has changed: mail is then found at once (docs/guides/channels/gmail.md).',
    matching(resourceNames.topics, 'the full name of a topic, such as projects/my-project/topics/gmail'),
  ),
  gmailPubsubSubscription: optional(
    'LODGE_GMAIL_PUBSUB_SUBSCRIPTION',
    'projects/<project>/subscriptions/<id>',
    'no push',
    'Pull subscription to that topic, of this Lodge alone.',
    matching(
      resourceNames.subscriptions,
      'the full name of a subscription, such as projects/my-project/subscriptions/lodge',
    ),
  ),
  gmailPubsubKeyFile: optional(
    'LODGE_GMAIL_PUBSUB_KEY_FILE',
    'absolute path',
    'no push',
    'Key of a service account that may pull from the subscription, in JSON as Google gives it out; read by root.',
    file,
  ),
  whatsappRoot: optional(
    'LODGE_WHATSAPP_ROOT',
    '64 hex digits',
    "WhatsApp's own",
    "Public key of the root of WhatsApp's certificates, for a server of one's own.",
    matching(/^[0-9a-f]{64}$/, '64 hex digits'),
  ),
  whatsappUrl: optional(
    'LODGE_WHATSAPP_URL',
    'ws(s) URL',
    '`wss://web.whatsapp.com/ws/chat`',
    'Where WhatsApp is reached. TLS protects the connection: `ws` only to this machine.',
    webSocketUrl,
  ),
} as const;

function webSocketUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : fail('a URL such as wss://web.whatsapp.com/ws/chat');
  if (url.protocol !== 'wss:' && !(url.protocol === 'ws:' && isHere(url)))
    fail('a wss URL, or a ws URL of this machine');
  if (url.username || url.password || url.hash) fail('a URL without a user or a fragment');
  return url.href;
}

function mediaOrigin(text: string): string {
  const url = new URL(origin(text));
  if (url.protocol !== 'https:' && !isHere(url)) fail('an https URL, or an http URL of this machine');
  return url.origin;
}

const isHere = ({ hostname }: URL): boolean => ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
/** Finds values that are valid alone and contradict each other. */
export function channelDisagreements(config: {
  readonly gmailPubsubTopic: string | null;
  readonly gmailPubsubSubscription: string | null;
  readonly gmailPubsubKeyFile: string | null;
}): readonly string[] {
  const push = [config.gmailPubsubTopic, config.gmailPubsubSubscription, config.gmailPubsubKeyFile];
  const given = push.filter((each) => each !== null).length;
  if (given === 0 || given === push.length) return [];
  return ['LODGE_GMAIL_PUBSUB_TOPIC, LODGE_GMAIL_PUBSUB_SUBSCRIPTION and LODGE_GMAIL_PUBSUB_KEY_FILE go together'];
}
