/**
 * Answers of the agent: one mail for each part, in the thread and to the one person who is answered, whoever else is named there.
 *
 * Each is looked up in its thread before it is sent, by its `Message-ID` and by a field of our own, so that a mail of which nobody
 * knows whether it was sent is not sent twice.
 */
import { PassThrough, Readable } from 'node:stream';
import { LeaseLost, SendFailure } from '@lodge/ports';
import type { ChannelConnection, ConnectionHost, OutboundPart, SendTarget } from '@lodge/ports';
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

export interface OutboxParts {
  readonly api: GmailApi;
  readonly thread: MailThread;
  readonly host: ConnectionHost;
  /** Of the connection: a label is tried no longer. */
  readonly signal: AbortSignal;
}

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
      const id = await this.#sendOnce(conversation, to, part, key, signal, stage);
      if (to.index === to.count - 1) this.#label(answeredOf(to.replyTo)?.mail ?? null);
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
  ): Promise<string> {
    const { api } = this.#parts;
    this.#address ??= (await api.profile(signal)).address;
    const messageId = messageIdOf(key, this.#address);
    const thread = await api.thread(threadId, ['Message-ID', 'Subject', partHeader], signal);
    const before = thread?.find((mail) => isPart(mail, key, messageId))?.id;
    // A thread that was deleted takes nothing more: the mail begins another, where it may be already.
    const sent = before ?? (thread ? null : await api.withMessageId(messageId, signal));
    if (sent !== null) return sent;
    const answered = answeredOf(to.replyTo) ?? lastOf(thread);
    const content = await this.#contentOf(part);
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
    return streamed(mail, content.file?.content ?? null, signal, (stream, own) => api.send(stream, inThread, own));
  }

  async #contentOf(part: OutboundPart) {
    if (part.kind === 'text') {
      const html = await this.#parts.thread.run<'html'>({ kind: 'html', text: part.text }).catch(() => null);
      return { text: part.text, html, file: null };
    }
    const name = fileName(part.name, 'file');
    const content = Readable.from(bounded(part.open(), part.bytes));
    return { text: name, html: null, file: { name, mediaType: part.mediaType, content } };
  }

  /** Says in the mailbox which mail is done. It stays unread: nobody has read it. */
  #label(mail: string | null): void {
    const { api, host, signal } = this.#parts;
    if (mail === null) return;
    api.label(mail, answeredLabel, this.#labelId, signal).then(
      (labelId) => {
        this.#labelId = labelId;
      },
      () => {
        this.#labelId = null;
        host.log.debug({ mail }, 'an answered mail has no label');
      },
    );
  }
}

const isPart = ({ headers, isSent }: ThreadMail, key: string, messageId: string): boolean =>
  isSent && (headers.get('message-id') === messageId || headers.get(partHeader.toLowerCase()) === key);

/** What is answered where nobody says: the last mail of the thread. */
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
      return new SendFailure(isSending ? 'unknown' : 'retry', reason.message, { retryAfterMs });
  }
}
