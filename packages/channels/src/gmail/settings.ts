/** The operator's settings of Gmail: Google's addresses, the OAuth client, and the way of notices. */
import { file, integer, matching, optional, required } from '@lodge/ports/settings';
import type { ValuesOf } from '@lodge/ports/settings';
import { baseAddress } from '../shared/base-address.ts';

/** Ids as Pub/Sub takes them: a letter first, 3 to 255 characters. */
const resourceNames = {
  topics: /^projects\/[a-z][a-z0-9:.-]{4,62}\/topics\/[A-Za-z][\w.~+%-]{2,254}$/,
  subscriptions: /^projects\/[a-z][a-z0-9:.-]{4,62}\/subscriptions\/[A-Za-z][\w.~+%-]{2,254}$/,
} as const;

export const keyFileVariable = 'LODGE_GMAIL_PUBSUB_KEY_FILE';

export const gmailSettings = {
  api: baseAddress('LODGE_GOOGLE_API', 'https://gmail.googleapis.com', 'the Gmail API'),
  oauth: baseAddress('LODGE_GOOGLE_OAUTH', 'https://oauth2.googleapis.com', "Google's OAuth"),
  consent: baseAddress('LODGE_GOOGLE_CONSENT', 'https://accounts.google.com', "Google's consent page"),
  pubsub: baseAddress('LODGE_GOOGLE_PUBSUB', 'https://pubsub.googleapis.com', "Google's Pub/Sub"),
  clientId: optional(
    'LODGE_GOOGLE_CLIENT_ID',
    'id of an OAuth client',
    'no agent has a Gmail channel',
    'The OAuth client by which people let agents read and send their mail.',
    matching(/^[\w.-]{1,200}$/, 'an id such as 1234-abcd.apps.googleusercontent.com'),
  ),
  clientSecret: {
    ...optional(
      'LODGE_GOOGLE_CLIENT_SECRET',
      'text',
      'no agent has a Gmail channel',
      "The client's secret.",
      matching(/^[\w.-]{1,200}$/, 'the secret of an OAuth client'),
    ),
    secret: true as const,
  },
  pollSeconds: required(
    'LODGE_GMAIL_POLL_SECONDS',
    'seconds, 1..3600',
    '15',
    'How often a mailbox is looked at. At 15 s it uses 8 of the 6,000 units a minute that Google allows it. With push every 5 minutes, or as often where this is rarer, while notices come.',
    integer(1, 3600),
  ),
  topic: optional(
    'LODGE_GMAIL_PUBSUB_TOPIC',
    'projects/<project>/topics/<id>',
    'no push',
    'Topic to which Gmail publishes that a mailbox has changed: mail is then found at once (docs/guides/channels/gmail.md).',
    matching(resourceNames.topics, 'the full name of a topic, such as projects/my-project/topics/gmail'),
  ),
  subscription: optional(
    'LODGE_GMAIL_PUBSUB_SUBSCRIPTION',
    'projects/<project>/subscriptions/<id>',
    'no push',
    'Pull subscription to that topic, of this Lodge alone.',
    matching(
      resourceNames.subscriptions,
      'the full name of a subscription, such as projects/my-project/subscriptions/lodge',
    ),
  ),
  keyFile: optional(
    keyFileVariable,
    'absolute path',
    'no push',
    'Key of a service account that may pull from the subscription, in JSON as Google gives it out; read by root.',
    file,
  ),
};

export type GmailValues = ValuesOf<typeof gmailSettings>;
