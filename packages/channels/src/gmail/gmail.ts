/** Gmail, by its API: mail is polled, and answered in its thread. */
import type { Platform } from '@lodge/ports';
import { emptyAnswer } from '../shared/plain.ts';
import { splitMarkdown } from '../shared/split.ts';
import { gmailClient } from './api/gmail-api.ts';
import { GmailConnection } from './connection.ts';
import { MailThread } from './mail/mail-thread.ts';
import { googleEndpoints, usualTimings } from './options.ts';
import type { GmailEndpoints, GmailOptions, GmailPush, GmailTimings } from './options.ts';
import { maxFileBytes } from './outbox.ts';
import { PubsubApi, pubsubScope } from './push/pubsub-api.ts';
import { Push } from './push/push.ts';
import { ServiceTokens } from './push/service-account.ts';

/** Bound on one mail. Gmail has no limit below 25 MiB; people have. */
const maxTextChars = 60_000;
const maxFileInBytes = 25 * 1024 * 1024;

/** One for a process: its mailboxes share the thread that reads mail. */
export function createGmail({ clientId, clientSecret, push, ...options }: GmailOptions): Platform {
  const endpoints = { ...googleEndpoints, ...options.endpoints };
  const timings = { ...usualTimings, ...options.timings };
  const parts = {
    client: gmailClient(endpoints.api),
    oauth: { clientId, clientSecret, endpoints, callMs: timings.callMs },
    thread: new MailThread(),
    timings,
    push: push ? { topic: push.topic, hub: pushOf(push, endpoints, timings) } : null,
  };
  return {
    channel: 'gmail',
    limits: {
      textChars: maxTextChars,
      fileInBytes: maxFileInBytes,
      fileOutBytes: maxFileBytes,
      typingEveryMs: null,
    },
    sendsOnce: true,
    // The mailbox is consented to.
    verify: null,
    render(markdown) {
      const pieces = splitMarkdown(markdown, maxTextChars);
      return (pieces.length > 0 ? pieces : [emptyAnswer]).map((text) => ({ text, format: null }));
    },
    connect: (account, host) => new GmailConnection(parts, account, host),
  };
}

function pushOf({ subscription, account, notices, log }: GmailPush, endpoints: GmailEndpoints, timings: GmailTimings) {
  const { callMs, pullMs } = timings;
  const tokens = new ServiceTokens({ account, scope: pubsubScope, url: endpoints.token, callMs });
  const api = new PubsubApi({ api: endpoints.pubsub, subscription, tokens, callMs, pullMs });
  return new Push({ api, notices, log, timings });
}
