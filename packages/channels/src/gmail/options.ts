/** The operator's Google client, where Google is, and how often it is asked. */
import type { Log, MailboxNotices } from '@lodge/ports';
import type { BackoffTimings } from '../shared/backoff.ts';
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

export interface GmailEndpoints {
  /** Ends with a slash. */
  readonly api: string;
  readonly consent: string;
  readonly token: string;
  /** Pub/Sub. Ends with a slash. */
  readonly pubsub: string;
}

export interface GmailTimings {
  /** Between two looks at a mailbox. */
  readonly pollMs: number;
  /** Between two checks that the history, which is looked at, has what the mailbox has. */
  readonly probeMs: number;
  /** Bound on one call. */
  readonly callMs: number;
  /** Bound on a mail with its files, in and out. */
  readonly mailMs: number;
  /** How often the place in a history without mail is kept. A history is kept by Gmail for at least a week as a rule. */
  readonly keepMs: number;
  readonly backoff: BackoffTimings;
  /** Between two looks at a mailbox of whose changes notices come. */
  readonly pushPollMs: number;
  /** Between two looks, however many notices come. */
  readonly noticeGapMs: number;
  /** How long a notice may take, after its mail was found. */
  readonly noticeMs: number;
  /** Between two orders to publish the changes of a mailbox; and after one that failed. */
  readonly watchMs: number;
  readonly watchBackoff: BackoffTimings;
  /** Bound on one pull, which Google holds open until there is something. */
  readonly pullMs: number;
  /** Between two pulls. */
  readonly pullGapMs: number;
}

export const googleEndpoints: GmailEndpoints = {
  api: 'https://gmail.googleapis.com/',
  consent: 'https://accounts.google.com/o/oauth2/v2/auth',
  token: 'https://oauth2.googleapis.com/token',
  pubsub: 'https://pubsub.googleapis.com/',
};

/**
 * A look costs 2 units: at 15 s a mailbox uses 8 of its 6,000 a minute and 11,520 a day, and 6,900 mailboxes stay within the
 * 80,000,000 a day that a project has free of charge (developers.google.com/workspace/gmail/api/reference/quota).
 */
export const usualTimings: GmailTimings = {
  pollMs: 15_000,
  probeMs: 5 * 60_000,
  callMs: 30_000,
  mailMs: 120_000,
  keepMs: 10 * 60_000,
  backoff: usualBackoff,
  pushPollMs: 5 * 60_000,
  noticeGapMs: 1_000,
  noticeMs: 60_000,
  // Google advises once a day.
  watchMs: 86_400_000,
  watchBackoff: { firstMs: 60_000, maxMs: 3_600_000, stableMs: 60_000 },
  pullMs: 120_000,
  pullGapMs: 250,
};

/** Reads, sends and labels mail; deletes nothing for good. */
export const gmailScopes = ['https://www.googleapis.com/auth/gmail.modify'] as const;
