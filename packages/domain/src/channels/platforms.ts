/**
 * The messaging platforms: one row for each, with all that is known of it outside its adapter. Nobody else tells platforms
 * apart: where a difference matters, it is a field of this row or a method of the adapter.
 */

export interface PlatformRow {
  readonly title: string;
  /** Another name, which input may use and output never has. */
  readonly alias?: string;
  /** Secrets that a person gives with the channel, by the specification's names. Other channels are paired or consented to. */
  readonly credentials: Readonly<Record<string, CredentialRow>>;
  /** The reason why a channel without secrets waits, until it is paired or consented to. */
  readonly waits?: { readonly code: 'pairing_needed' | 'consent_needed'; readonly message: string };
  /** Whether it shows a turn's progress, because a sent message can be edited and removed there. */
  readonly hasProgress: boolean;
  /** Whether people can press choices below a message. Elsewhere the text names a code to answer with. */
  readonly hasButtons: boolean;
  /** Shapes of its secrets, by a prefix that does not stand in the midst of a word. */
  readonly tokens?: readonly RegExp[];
  /** The shape of a secret that may stand in the midst of a word, with the flag `g`. */
  readonly looseToken?: RegExp;
  /** Returns the account that a token itself names, or null. */
  readonly accountOf?: (token: string) => string | null;
}

export interface CredentialRow {
  /** Its use, as a sentence of the API's document; usually that of every secret. */
  readonly description?: string;
  readonly example: string;
}

/** Platforms by their name on the wire. */
export const platforms = {
  slack: {
    title: 'Slack',
    credentials: {
      appToken: { example: 'xapp-1-A0-1-abc', description: 'For Socket Mode. Left out, the stored one stays.' },
      botToken: { example: 'xoxb-1-abc' },
    },
    hasProgress: true,
    hasButtons: true,
    tokens: [/xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{8,}/, /xapp-[A-Za-z0-9-]{8,}/],
  },
  discord: {
    title: 'Discord',
    credentials: { botToken: { example: 'MTA.abc.def' } },
    hasProgress: true,
    hasButtons: true,
    tokens: [/[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}/],
    /** It begins with the bot's id in base64 and a dot. */
    accountOf: (token) => idIn(decoded(token.replace(/^Bot /, '').split('.', 1)[0]!)),
  },
  telegram: {
    title: 'Telegram',
    credentials: { botToken: { example: '123456:ABC' } },
    hasProgress: true,
    hasButtons: true,
    /** It begins with digits, and stands in addresses behind `bot`. */
    looseToken: /(?<![0-9])[0-9]{6,12}:[A-Za-z0-9_-]{30,}/g,
    accountOf: (token) => (token.includes(':') ? idIn(token.split(':', 1)[0]!) : null),
  },
  whatsapp: {
    title: 'WhatsApp',
    credentials: {},
    waits: {
      code: 'pairing_needed',
      message: 'WhatsApp is not paired yet: scan the code, or type it on the phone.',
    },
    hasProgress: false,
    hasButtons: false,
  },
  gmail: {
    title: 'Gmail',
    alias: 'email',
    credentials: {},
    waits: {
      code: 'consent_needed',
      message: 'Nobody has consented yet: open the authorization URL and allow access to the mailbox.',
    },
    hasProgress: false,
    hasButtons: false,
  },
} as const satisfies Readonly<Record<string, PlatformRow>>;

export type ChannelName = keyof typeof platforms;

const idIn = (id: string): string | null => (/^\d{1,20}$/.test(id) ? id : null);

const decoded = (part: string): string => Buffer.from(part, 'base64url').toString('latin1');
