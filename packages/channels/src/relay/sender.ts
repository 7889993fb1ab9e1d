/**
 * Sends waiting parts. A conversation has one part in flight at a time; conversations run side by side.
 *
 * Before the platform is called, the part is `sending` in the database. A process that dies from there on leaves it unclear.
 * It is sent again only while the platform recognises a second try by its key. On other platforms it becomes `unknown`, and
 * is never sent twice.
 */
import { Places, backoffMs } from '@lodge/domain';
import { maxAnswerParts, SendFailure } from '@lodge/ports';
import type {
  ChannelConnection,
  Log,
  OpenedRelayStore,
  OutboundPart,
  PartToSend,
  Platform,
  RelayFiles,
  SendTarget,
} from '@lodge/ports';
import { pause } from '../shared/backoff.ts';
import type { Held } from './held.ts';
import type { HeldChannels } from './channels.ts';
import { keyOf } from './channels.ts';
import { settled } from './settle.ts';
import type { RelayTimings } from './timings.ts';

const maxAtOnce = 32;
const maxOfChannel = 8;
const maxTries = 10;
const maxRetryAfterMs = 3_600_000;

const died =
  'The process that sends was ended while it sent the answer, so it may have arrived. Send it again if it did not.';
const unclear =
  'The platform did not say whether it took the answer, so it may have arrived. Send it again if it did not.';

export interface SenderOptions {
  readonly store: OpenedRelayStore;
  readonly channels: HeldChannels;
  readonly files: RelayFiles;
  readonly log: Log;
  readonly timings: RelayTimings;
  /** One part has ended, so there may be another. */
  readonly onEnd: () => void;
}

export class Sender {
  private readonly options: SenderOptions;
  /** By conversation. */
  private readonly underWay = new Map<string, Promise<void>>();
  private readonly places = new Places({ inAll: maxAtOnce, perName: maxOfChannel });
  private readonly closing = new AbortController();

  constructor(options: SenderOptions) {
    this.options = options;
  }

  async look(): Promise<void> {
    const { store, channels } = this.options;
    if (this.closing.signal.aborted || this.underWay.size >= maxAtOnce) return;
    const held = channels.connected.filter(({ lease }) => !this.places.isFull(keyOf(lease)));
    const parts = await store.partsToSend(
      held.map(({ lease }) => lease),
      2 * maxAtOnce,
    );
    for (const part of parts) this.begin(part);
  }

  /** Waits for running sends, `withinMs` at most. */
  async close(withinMs: number): Promise<void> {
    const all = Promise.all(this.underWay.values());
    const waiting = new AbortController();
    await Promise.race([all, pause(withinMs, waiting.signal)]);
    waiting.abort();
    this.closing.abort();
  }

  private begin(part: PartToSend): void {
    const conversation = JSON.stringify([part.agentId, part.channel, part.conversationId]);
    const channel = keyOf(part);
    const held = this.options.channels.find(part);
    if (held === undefined || this.underWay.has(conversation) || held.lease.number !== part.number) return;
    if (!this.places.take(channel)) return;
    const work = this.handle(held, part)
      .catch(async (error: unknown) => {
        this.options.log.warn({ err: error, channel: part.channel }, 'a part was not handled, and is tried again');
        // It is available again at once.
        await pause(1_000, this.closing.signal);
      })
      .finally(() => {
        this.underWay.delete(conversation);
        this.places.giveBack(channel);
        this.options.onEnd();
      });
    this.underWay.set(conversation, work);
  }

  private async handle(held: Held, part: PartToSend): Promise<void> {
    const { store } = this.options;
    const { content } = part;
    const isUnclear = part.unclearForMs !== null;
    if (isUnclear && !mayRepeat(held.platform, part)) return this.fail(part, 'unknown', part.unclear ? died : unclear);
    if (part.attempts >= maxTries) return this.fail(part, isUnclear ? 'unknown' : 'failed', 'It was tried too often.');
    if (content.kind === 'markdown') return this.render(held, part, content.markdown);
    const work = await this.workOf(held, part, content);
    if (work === null) return;
    let isOurs: boolean;
    try {
      isOurs = await store.sending(part, part.id);
    } catch {
      // The write may have succeeded. The adapter reports that nothing was sent.
      await this.write(() =>
        store.sendLater(part, part.id, new Date(Date.now() + 1_000), 'The database did not answer.'),
      );
      return;
    }
    if (isOurs) await this.send(held, part, work);
  }

  private async render(held: Held, part: PartToSend, markdown: string): Promise<void> {
    let parts: ReturnType<Held['platform']['render']>;
    try {
      parts = held.platform.render(markdown).slice(0, maxAnswerParts);
      if (parts.length === 0) throw new RangeError('an answer of no parts');
    } catch (error) {
      this.options.log.error({ err: error, channel: part.channel }, 'an answer could not be rendered');
      return this.fail(part, 'failed', 'The answer could not be put into the form of the platform.');
    }
    await this.options.store.split(part, part.id, parts);
  }

  /** Null: the part has ended. */
  private async workOf(
    held: Held,
    part: PartToSend,
    content: Exclude<PartToSend['content'], { readonly kind: 'markdown' }>,
  ): Promise<Work | null> {
    const to = targetOf(part);
    if (content.kind === 'edit') return this.editOf(held, part, content);
    const outbound = content.kind === 'text' ? textOf(content) : await this.fileOf(held, part, content);
    return outbound && ((connection, signal) => connection.send(to, outbound, part.key, signal));
  }

  private async editOf(
    held: Held,
    part: PartToSend,
    { messageId, markdown }: Extract<PartToSend['content'], { readonly kind: 'edit' }>,
  ): Promise<Work | null> {
    const [text] = held.platform.render(markdown);
    if (messageId === null || text === undefined || held.connection?.closeChoices === undefined) {
      await this.fail(part, 'failed', 'There is no message to change.');
      return null;
    }
    return async (connection, signal) => {
      await connection.closeChoices?.(targetOf(part), messageId, text, signal);
      return { id: messageId };
    };
  }

  private async fileOf(
    held: Held,
    part: PartToSend,
    content: Extract<PartToSend['content'], { readonly kind: 'file' }>,
  ): Promise<OutboundPart | null> {
    const { name, mediaType, bytes, key } = content;
    if (bytes > held.platform.limits.fileOutBytes) {
      await this.fail(
        part,
        'failed',
        `The file is larger than the platform takes (${held.platform.limits.fileOutBytes} bytes).`,
      );
      return null;
    }
    const open = await fileStream(this.options.files, key);
    if (open === null) {
      await this.fail(part, 'failed', 'The file is not on the host any more.');
      return null;
    }
    return { kind: 'file', name, mediaType, bytes, open };
  }

  private async send(held: Held, part: PartToSend, work: Work): Promise<void> {
    const { store, timings } = this.options;
    const withinMs = part.content.kind === 'file' ? timings.sendFileMs : timings.sendMs;
    try {
      const { connection, signal } = held;
      if (connection === null || held.isEnding) throw new SendFailure('retry', 'The connection ended.');
      const within = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
      const { id } = await outcome(work(connection, within), within);
      await this.write(() => store.sent(part, part.id, id));
    } catch (error) {
      await this.notSent(held, part, error);
    }
  }

  private async notSent(held: Held, part: PartToSend, error: unknown): Promise<void> {
    // Details that an adapter did not report are unknown.
    const failure = error instanceof SendFailure ? error : new SendFailure('unknown', unclear, { cause: error });
    const tries = part.attempts + 1;
    const mayAgain = failure.outcome === 'retry' || (failure.outcome === 'unknown' && mayRepeat(held.platform, part));
    if (mayAgain && tries < maxTries) return this.later(part, failure, tries);
    const isUnclear = failure.outcome === 'unknown' || part.unclearForMs !== null;
    await this.fail(part, isUnclear ? 'unknown' : 'failed', failure.message);
  }

  private async later(part: PartToSend, failure: SendFailure, tries: number): Promise<void> {
    const { store, timings } = this.options;
    const rule = { firstMs: timings.retryFirstMs, maxMs: timings.retryMaxMs, jitter: 0.5 };
    const waitMs = Math.min(failure.retryAfterMs, maxRetryAfterMs) + backoffMs(rule, tries, Math.random);
    const at = new Date(Date.now() + waitMs);
    await this.write(() => store.sendLater(part, part.id, at, failure.message, failure.outcome === 'unknown'));
  }

  private async fail(part: PartToSend, state: 'failed' | 'unknown', reason: string): Promise<void> {
    await this.write(() => this.options.store.sendFailed(part, part.id, state, reason));
  }

  private async write(write: () => Promise<unknown>): Promise<void> {
    await settled(write, this.closing.signal, this.options.log);
  }
}

/** An edit has the same effect once more. */
const mayRepeat = (
  { sendsOnce, sendsOnceForMs = Infinity }: Platform,
  { unclearForMs, content }: PartToSend,
): boolean => content.kind === 'edit' || (sendsOnce && (unclearForMs ?? 0) < sendsOnceForMs);

/** One call of the connection. */
type Work = (connection: ChannelConnection, signal: AbortSignal) => Promise<{ readonly id: string }>;

const targetOf = ({ conversationId, conversationKind, replyTo, index, count, sentIds }: PartToSend): SendTarget => ({
  conversationId,
  conversationKind,
  replyTo,
  index,
  count,
  sentIds,
});

const textOf = ({
  text,
  format,
  choices,
}: Extract<PartToSend['content'], { readonly kind: 'text' }>): OutboundPart => ({
  kind: 'text',
  text,
  format,
  ...(choices && { choices }),
});

/** An adapter is bound by the signal. A call that ignores it blocks nothing for ever. */
async function outcome<T>(sending: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => {
    timer = setTimeout(() => over.reject(new SendFailure('unknown', unclear)), 5_000);
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([sending, over.promise]);
  } finally {
    signal.removeEventListener('abort', end);
    clearTimeout(timer);
  }
}

/** Null: there is no such file. The returned source may be opened more than once, one after another. */
async function fileStream(
  files: Pick<RelayFiles, 'read'>,
  key: string,
): Promise<(() => AsyncIterable<Uint8Array>) | null> {
  try {
    const first = files.read(key)[Symbol.asyncIterator]();
    await first.next();
    await first.return?.();
  } catch {
    return null;
  }
  return () => files.read(key);
}
