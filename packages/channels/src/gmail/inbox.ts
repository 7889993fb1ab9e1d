/**
 * New mail of a mailbox, in order: it is read and committed, and only then the place in the mailbox's history moves.
 *
 * The history says what came since a place in it. Gmail keeps it for a week as a rule; behind that the inbox is listed by
 * date. Both may show a mail twice: the relay knows it by its id.
 */
import type { ConnectionHost, InboundMessage } from '@lodge/ports';
import { maxAtOnce, committed } from '../shared/commit.ts';
import type { Backoff } from '../shared/backoff.ts';
import type { GmailApi } from './api/gmail-api.ts';
import { GoogleFailure } from './api/google-failure.ts';
import { cursorJson } from './cursor.ts';
import type { Cursor } from './cursor.ts';
import { answeredJson, conversationId, fileRef } from './ids.ts';
import { UnreadableError } from './mail/mail-thread.ts';
import type { MailThread } from './mail/mail-thread.ts';
import type { MailHead, ReadFile, ReadMail } from './mail/read-mail.ts';

export interface InboxParts {
  readonly api: GmailApi;
  readonly thread: MailThread;
  readonly host: ConnectionHost;
  readonly backoff: Backoff;
  readonly signal: AbortSignal;
  readonly keepMs: number;
}

/** Clocks of Gmail and ours may differ. */
const overlapMs = 2 * 60_000;
const maxListed = 5_000;
const maxKnown = 1_000;

export class Inbox {
  readonly #parts: InboxParts;
  #cursor: Cursor;
  #keptAtMs = Date.now();
  #taken = 0;
  /** Ids of mail that is committed or skipped: a history repeats itself. */
  readonly #known = new Set<string>();

  constructor(parts: InboxParts, cursor: Cursor) {
    this.#parts = parts;
    this.#cursor = cursor;
  }

  /** How much mail was taken in, or left alone, since it was made. */
  get taken(): number {
    return this.#taken;
  }

  get historyId(): string {
    return this.#cursor.historyId;
  }

  /** Takes in what came since the last look. */
  async look(): Promise<void> {
    const { api, signal } = this.#parts;
    const startedAtMs = Date.now();
    const from = this.#cursor.historyId;
    let next: string | null = null;
    do {
      const page = await api.history(from, next, signal);
      if (page === null) return this.listAgain('the history of the mailbox does not reach back so far');
      next = page.next;
      const isNewer = BigInt(page.historyId) > BigInt(this.#cursor.historyId);
      await this.#take(page.ids, {
        ...this.#cursor,
        ...(isNewer && { historyId: page.historyId }),
        ...(next === null && { seenAtMs: startedAtMs }),
      });
    } while (next !== null && !signal.aborted);
  }

  /** Lists the inbox by date, from the last time when everything had been seen. */
  async listAgain(why: string): Promise<void> {
    const { api, signal, host } = this.#parts;
    host.log.warn({ since: new Date(this.#cursor.seenAtMs).toISOString() }, `mail is listed by date: ${why}`);
    const seenAtMs = Date.now();
    // Mail that arrives during the listing is in the history from here.
    const { historyId } = await api.profile(signal);
    const seconds = Math.max(0, Math.floor((this.#cursor.seenAtMs - overlapMs) / 1_000));
    const ids: string[] = [];
    let next: string | null = null;
    do {
      const page = await api.listAfter(seconds, next, signal);
      ids.push(...page.ids);
      next = page.next;
    } while (next !== null && ids.length < maxListed && !signal.aborted);
    if (next !== null)
      host.log.error({ kept: ids.length }, 'more mail came than can be taken in: the oldest is left out');
    await this.#take(ids.toReversed(), { ...this.#cursor, historyId, seenAtMs });
  }

  /** Reads and commits mail in its order; the cursor goes with the last of it. */
  async #take(ids: readonly string[], cursor: Cursor): Promise<void> {
    const { host, signal, backoff, keepMs } = this.#parts;
    const unknown = [...new Set(ids)].filter((id) => !this.#known.has(id));
    // Few at once: each may have a text of 64 Ki characters.
    for (let from = 0; from < unknown.length; from += maxAtOnce / 4) {
      const some = unknown.slice(from, from + maxAtOnce / 4);
      const messages: InboundMessage[] = [];
      for (const id of some) messages.push(...(await this.#read(id)));
      const isLast = from + some.length >= unknown.length;
      signal.throwIfAborted();
      if (messages.length > 0 || isLast) {
        const place = isLast ? cursorJson(cursor) : undefined;
        if (!(await committed(host, messages, place, { backoff, signal }))) return signal.throwIfAborted();
      }
      for (const id of some) this.#know(id);
    }
    const hasMoved = cursor.historyId !== this.#cursor.historyId;
    this.#cursor = cursor;
    if (unknown.length > 0) this.#keptAtMs = Date.now();
    else if (hasMoved && Date.now() - this.#keptAtMs >= keepMs) {
      await committed(host, [], cursorJson(cursor), { backoff, signal });
      this.#keptAtMs = Date.now();
    }
  }

  /** Nothing: the mail is gone, or not for the agent. */
  async #read(id: string): Promise<InboundMessage[]> {
    const { api, thread, host, signal } = this.#parts;
    const { address: mailbox } = this.#cursor;
    try {
      const head = await api.head(id, signal);
      if (head === null) return [];
      const begun = await thread.run<'head'>(mailbox, { kind: 'head', answer: head, mailbox });
      if ('skipped' in begun) return this.#skip(id, begun.skipped);
      // Anybody may write a mail of 25 MiB: it is fetched where its sender may write to the agent.
      const unread = unreadMessage(begun.head);
      if (!(await host.admits(unread))) return [unread];
      const reading = await thread.withMail(
        mailbox,
        () => api.raw(id, signal),
        (answer) => (answer === null ? null : thread.run<'read'>(mailbox, { kind: 'read', answer, mailbox })),
      );
      if (reading === null) return [];
      return 'mail' in reading ? [messageOf(reading.mail)] : this.#skip(id, reading.skipped);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      host.log.warn({ mail: id, reason: 'unreadable' }, 'mail is not for the agent');
      return [];
    }
  }

  #skip(id: string, reason: string): [] {
    this.#parts.host.log.info({ mail: id, reason }, 'mail is not for the agent');
    return [];
  }

  #know(id: string): void {
    this.#taken += 1;
    this.#known.add(id);
    if (this.#known.size > maxKnown) this.#known.delete(this.#known.values().next().value!);
  }
}

/** For ever: a mail that is only tried again would keep all that come after it. */
const isUnreadable = (error: unknown): boolean =>
  error instanceof UnreadableError || (error instanceof GoogleFailure && error.kind === 'too_large');

function headOf({ id, threadId, sender, sentAtMs }: MailHead) {
  return {
    id,
    conversation: { id: conversationId({ threadId, address: sender.address }), kind: 'direct', title: null },
    sender: { id: sender.address, name: sender.name, isBot: false },
    addressed: true,
    sentAt: new Date(sentAtMs),
  } as const;
}

/** The message of a sender without access: the owner sees its subject. */
const unreadMessage = (head: MailHead): InboundMessage => ({
  ...headOf(head),
  text: head.subject === '' ? '' : `Subject: ${head.subject}`,
  files: [],
  replyTo: answeredJson({ mail: head.id, subject: head.subject, references: head.references }),
  isUnread: true,
});

function messageOf({ text, files, ...head }: ReadMail): InboundMessage {
  const { id, subject, references } = head;
  return {
    ...headOf(head),
    text,
    files: files.map((file) => ({
      ref: fileRef(id, file.index),
      name: file.name,
      mediaType: file.mediaType,
      bytes: file.bytes,
      kind: kindOf(file),
    })),
    replyTo: answeredJson({ mail: id, subject, references }),
  };
}

const kindOf = ({ mediaType }: ReadFile): 'file' | 'image' => (mediaType.startsWith('image/') ? 'image' : 'file');
