/** The operator's Google client, where Google is, and how often it is asked. */
import type { Log, MailboxNotices } from '@lodge/ports';
import { usualBackoff } from '../shared/backoff.ts';
import type { ServiceAccount } from './push/service-account.ts';

export interface GmailOptions {
  readonly clientId: string;
  /** Never logged. */
  readonly clientSecret: string;
  /** From the operator's configuration alone. */
  readonly endpoints?: Partial<GmailEndpoints>;
  readonly timings?: Partial<GmailTimings>;
  /** Left out: mailboxes are looked at by time alone. */
  readonly push?: GmailPush;
}

/** Gmail publishes to the topic; the process that pulls from the subscription receives the notices. */
export interface GmailPush {
  /** `projects/<project>/topics/<id>`. */
  readonly topic: string;
  /** `projects/<project>/subscriptions/<id>`. */
  readonly subscription: string;
  /** The account that may pull from it. */
  readonly account: ServiceAccount;
  readonly notices: MailboxNotices;
  readonly log: Log;
}

export const googleEndpoints = {
  /** Ends with a slash. */
  api: 'https://gmail.googleapis.com/',
  consent: 'https://accounts.google.com/o/oauth2/v2/auth',
  token: 'https://oauth2.googleapis.com/token',
  /** Pub/Sub. Ends with a slash. */
  pubsub: 'https://pubsub.googleapis.com/',
};

export type GmailEndpoints = Readonly<typeof googleEndpoints>;

/**
 * A look costs 2 units: at 15 s a mailbox uses 8 of its 6,000 a minute and 11,520 a day, and 6,900 mailboxes stay within the
 * 80,000,000 a day that a project has free of charge (developers.google.com/workspace/gmail/api/reference/quota).
 */
export const usualTimings = {
  /** Between two looks at a mailbox. */
  pollMs: 15_000,
  /** Between two checks that the history, which is looked at, has what the mailbox has. */
  probeMs: 5 * 60_000,
  /** Bound on one call. */
  callMs: 30_000,
  /** Bound on a mail with its files, in and out. */
  mailMs: 120_000,
  /** How often the place in a history without mail is kept. A history is kept by Gmail for at least a week as a rule. */
  keepMs: 10 * 60_000,
  backoff: usualBackoff,
  /** Between two looks at a mailbox of whose changes notices come. */
  pushPollMs: 5 * 60_000,
  /** Between two looks, however many notices come. */
  noticeGapMs: 1_000,
  /** How long a notice may take, after its mail was found. */
  noticeMs: 60_000,
  // Google advises once a day.
  /** Between two orders to publish the changes of a mailbox; and after one that failed. */
  watchMs: 86_400_000,
  watchBackoff: { firstMs: 60_000, maxMs: 3_600_000, stableMs: 60_000 },
  /** Bound on one pull, which Google holds open until there is something. */
  pullMs: 120_000,
  /** Between two pulls. */
  pullGapMs: 250,
};

export type GmailTimings = Readonly<typeof usualTimings>;

/** Reads, sends and labels mail; deletes nothing for good. */
export const gmailScopes = ['https://www.googleapis.com/auth/gmail.modify'] as const;
