/**
 * Answers of the agent: one mail for each part, in the thread and to the one person who is answered, even if others are
 * named there.
 *
 * Each is looked up in its thread before it is sent, by its `Message-ID` and by a field of our own, so that a mail of which
 * nobody knows whether it was sent is not sent twice.
 */
import { PassThrough, Readable } from 'node:stream';
import { LeaseLost, SendFailure } from '@lodge/ports';
import type { ChannelConnection, ConnectionHost, OutboundPart, SendTarget } from '@lodge/ports';
import { pause } from '../shared/backoff.ts';
import { fileName } from '../shared/plain.ts';
import type { GmailApi, ThreadMail } from './api/gmail-api.ts';
import { GoogleFailure } from './api/google-failure.ts';
import { answerSubject, composeMail, messageIdOf } from './compose.ts';
import { answeredOf, conversationOf } from './ids.ts';
import type { Answered, Conversation } from './ids.ts';
import { partHeader } from './mail/automatic.ts';
import type { MailThread } from './mail/mail-thread.ts';

/** Gmail takes 25 MiB with the files in base64. */
export const maxFileBytes = 18 * 1024 * 1024;
export const answeredLabel = 'Lodge/answered';
const maxLabelled = 20;
const labelTries = 3;
const labelRetryMs = 1_000;
const maxLabelWaitMs = 60_000;

export interface OutboxParts {
  readonly api: GmailApi;
  readonly thread: MailThread;
  readonly host: ConnectionHost;
  /** Aborts with the connection: then the label is not tried any more. */
  readonly signal: AbortSignal;
}

/** Null: it is gone. */
type Thread = readonly ThreadMail[] | null;
type Sent = Awaited<ReturnType<ChannelConnection['send']>>;

export class Outbox {
  readonly #parts: OutboxParts;
  #address: string | null = null;
  #labelId: string | null = null;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  set address(address: string) {
    this.#address = address;
  }

  async send(to: SendTarget, part: OutboundPart, key: string, given: AbortSignal): Promise<Sent> {
    const conversation = conversationOf(to.conversationId);
    if (!conversation) throw new SendFailure('refused', 'This is no conversation of the mailbox.');
    if (part.kind === 'file' && part.bytes > maxFileBytes)
      throw new SendFailure('refused', 'Gmail sends files of at most 18 MiB.');
    const signal = AbortSignal.any([given, this.#parts.signal]);
    const stage = { isSending: false };
    try {
      signal.throwIfAborted();
      const { id, thread } = await this.#sendOnce(conversation, to, part, key, signal, stage);
      const answered = answeredOf(to.replyTo)?.mail ?? null;
      if (to.index === to.count - 1 && answered !== null) void this.#label(answered, conversation, thread);
      return { id };
    } catch (error) {
      throw sendFailure(error, stage.isSending);
    }
  }

  async #sendOnce(
    { threadId, address }: Conversation,
    to: SendTarget,
    part: OutboundPart,
    key: string,
    signal: AbortSignal,
    stage: { isSending: boolean },
  ): Promise<{ readonly id: string; readonly thread: Thread }> {
    const { api } = this.#parts;
    this.#address ??= (await api.profile(signal)).address;
    const messageId = messageIdOf(key, this.#address);
    const thread = await api.thread(threadId, ['Message-ID', 'Subject', 'From', partHeader], signal);
    const before = thread?.find((mail) => isPart(mail, key, messageId))?.id;
    // A thread that was deleted takes nothing more: the mail begins another, where it may be already.
    const sent = before ?? (thread ? null : await api.withMessageId(messageId, signal));
    if (sent !== null) return { id: sent, thread };
    const answered = answeredOf(to.replyTo) ?? lastOf(thread);
    const content = await this.#contentOf(part, this.#address);
    const mail = composeMail({
      from: this.#address,
      to: address,
      subject: answered ? answerSubject(answered.subject) : 'Message',
      messageId,
      key,
      references: answered?.references ?? [],
      ...content,
    });
    stage.isSending = true;
    const inThread = thread ? threadId : null;
    const file = content.file?.content ?? null;
    return { id: await streamed(mail, file, signal, (stream, own) => api.send(stream, inThread, own)), thread };
  }

  async #contentOf(part: OutboundPart, mailbox: string) {
    if (part.kind === 'text') {
      const html = await this.#parts.thread.run<'html'>(mailbox, { kind: 'html', text: part.text }).catch(() => null);
      return { text: part.text, html, file: null };
    }
    const name = fileName(part.name, 'file');
    const content = Readable.from(bounded(part.open(), part.bytes));
    return { text: name, html: null, file: { name, mediaType: part.mediaType, content } };
  }

  /**
   * Says in the mailbox which mail is done: the one that is answered, and what the same person wrote before it and nobody has marked
   * yet, for one turn answers all that waited. It stays unread: nobody has read it. Never rejects.
   */
  async #label(answered: string, { address }: Conversation, thread: Thread): Promise<void> {
    const { api, host, signal } = this.#parts;
    const from = thread?.slice(0, thread.findIndex(({ id }) => id === answered) + 1) ?? [];
    const others = from.filter(
      (mail) => mail.id !== answered && isOf(mail, address) && mail.labelIds.includes('INBOX'),
    );
    const unmarked = others.filter(({ labelIds }) => this.#labelId === null || !labelIds.includes(this.#labelId));
    for (const mail of [answered, ...unmarked.slice(-maxLabelled).map(({ id }) => id)]) {
      const isDone = await tried(signal, async () => {
        this.#labelId = await api.label(mail, answeredLabel, this.#labelId, signal);
      });
      if (isDone) continue;
      // Somebody may have deleted the label.
      this.#labelId = null;
      host.log.debug({ mail }, 'an answered mail has no label');
    }
  }
}

/** Some tries: a label is worth no more. */
async function tried(signal: AbortSignal, work: () => Promise<void>): Promise<boolean> {
  for (let tries = 1; tries <= labelTries && !signal.aborted; tries += 1) {
    try {
      await work();
      return true;
    } catch (error) {
      const isPassing =
        error instanceof GoogleFailure && ['limited', 'unavailable', 'unreachable'].includes(error.kind);
      if (!isPassing || tries === labelTries || error.retryAfterMs > maxLabelWaitMs) return false;
      await pause(Math.max(labelRetryMs * tries, error.retryAfterMs), signal);
    }
  }
  return false;
}

const isOf = ({ headers }: ThreadMail, address: string): boolean => {
  const from = headers.get('from')?.trim().toLowerCase() ?? '';
  return from === address || from.endsWith(`<${address}>`);
};

const isPart = ({ headers, isSent }: ThreadMail, key: string, messageId: string): boolean =>
  isSent && (headers.get('message-id') === messageId || headers.get(partHeader.toLowerCase()) === key);

/** The default answer goes to the last mail of the thread. */
function lastOf(thread: readonly ThreadMail[] | null): Answered | null {
  const headers = thread?.at(-1)?.headers;
  if (!headers) return null;
  const messageId = headers.get('message-id');
  return { mail: null, subject: headers.get('subject') ?? '', references: messageId ? [messageId] : [] };
}

async function* bounded(source: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new SendFailure('refused', 'The file is larger than it was said to be.');
    yield chunk;
  }
  if (bytes < maxBytes) throw new SendFailure('retry', 'The file ended before its end.');
}

/**
 * Does something with a mail, and gives it up when the file in it breaks: neither composer nor library would say so, and both would
 * wait for ever.
 */
async function streamed(
  mail: Readable,
  file: Readable | null,
  signal: AbortSignal,
  use: (mail: Readable, signal: AbortSignal) => Promise<string>,
): Promise<string> {
  const broken = new AbortController();
  const out = new PassThrough();
  const fail = (error: Error): void => broken.abort(error);
  for (const stream of [mail, file, out]) stream?.on('error', fail);
  mail.pipe(out);
  try {
    return await use(out, AbortSignal.any([signal, broken.signal]));
  } catch (error) {
    if (!broken.signal.aborted) throw error;
    throw broken.signal.reason instanceof SendFailure
      ? broken.signal.reason
      : new SendFailure('retry', 'The file could not be read.');
  } finally {
    for (const stream of [mail, file, out]) stream?.destroy();
  }
}

function sendFailure(error: unknown, isSending: boolean): Error {
  if (error instanceof SendFailure || error instanceof LeaseLost) return error;
  if (!(error instanceof GoogleFailure))
    return new SendFailure(isSending ? 'unknown' : 'retry', 'The mail was given up.');
  const { kind, reason, retryAfterMs } = error;
  switch (kind) {
    case 'limited':
    case 'unreachable':
    case 'unauthorized':
      return new SendFailure('retry', reason.message, { retryAfterMs });
    case 'fatal':
      return new SendFailure('retry', reason.message, { retryAfterMs: 60_000 });
    case 'refused':
    case 'not_found':
      return new SendFailure('refused', reason.message);
    case 'unavailable':
    case 'too_large':
      return new SendFailure(isSending ? 'unknown' : 'retry', reason.message, { retryAfterMs });
  }
}
