/** Sends over one socket, and what WhatsApp's server says of each. */
import { createHash } from 'node:crypto';
import { untilAborted } from '@lodge/domain';
import { SendFailure } from '@lodge/ports';
import type { DeviceKeys } from './device/keys.ts';
import { packContent, unpackContent } from './device/library.ts';
import type { Content, Socket, Stanza } from './device/library.ts';

/** Messages that are kept for phones that could not read them: so many, each in the place that its id gives. */
const keptMessages = 128;
const sentRows = 'sent';
/** WhatsApp lets this account write to nobody who has not written lately. */
const restrictedCode = '463';
const busyCode = '429';

/** The same for every try: phones show a message with one id once. */
export const messageIdOf = (key: string): string =>
  `3EB0${createHash('sha256').update(key).digest('hex').slice(0, 28).toUpperCase()}`;

export class Sender {
  private readonly keys: DeviceKeys;
  private readonly socket: () => Socket | null;
  /** By the message's id: tells its error's code, or null for none. */
  private readonly waiting = new Map<string, (code: string | null) => void>();
  private readonly over = new AbortController();
  private encryptions = 0;

  constructor(keys: DeviceKeys, socket: () => Socket | null) {
    this.keys = keys;
    this.socket = socket;
  }

  get isBusy(): boolean {
    return this.waiting.size > 0;
  }

  see({ tag, attrs }: Stanza): void {
    if (tag !== 'ack' || attrs['class'] !== 'message') return;
    const { id = '', error } = attrs;
    this.waiting.get(id)?.(error ?? null);
  }

  /** The socket has ended: no answer comes any more. */
  end(): void {
    this.over.abort();
  }

  /** Something is being encrypted: from now on it may leave. */
  encrypts(): void {
    this.encryptions += 1;
  }

  /** A message sent before, for a phone that could not read it. */
  async sentBefore(id: string): Promise<Content | undefined> {
    const row = await this.keys.row(sentRows, placeOf(id)).catch(() => null);
    if (row === null || !row.startsWith(`${id} `)) return undefined;
    return unpackContent(row.slice(id.length + 1));
  }

  /** Resolves when WhatsApp's server has it. Rejects with a `SendFailure`. */
  async send(jid: string, content: Content, id: string, given: AbortSignal): Promise<void> {
    const socket = this.socket();
    const signal = AbortSignal.any([given, this.over.signal]);
    if (!socket?.isOpen || signal.aborted) throw new SendFailure('retry', 'not connected to WhatsApp');
    const row = { type: sentRows, id: placeOf(id), value: `${id} ${packContent(content)}` };
    const answer = Promise.withResolvers<string | null>();
    this.waiting.set(id, answer.resolve);
    const before = this.encryptions;
    try {
      await untilAborted(this.keys.write([row]), signal);
      await untilAborted(socket.relay(jid, content, id), signal);
      judge(await untilAborted(answer.promise, signal));
    } catch (error) {
      if (error instanceof SendFailure) throw error;
      // The library's errors may hold texts and keys: none of them goes on.
      if (this.encryptions === before) throw new SendFailure('retry', 'WhatsApp did not take the message');
      throw new SendFailure('unknown', 'WhatsApp did not say whether it has the message');
    } finally {
      if (this.waiting.get(id) === answer.resolve) this.waiting.delete(id);
    }
  }
}

function judge(code: string | null): void {
  if (code === null) return;
  if (code === restrictedCode) {
    throw new SendFailure('refused', 'WhatsApp restricts this account: it may not write to this person now');
  }
  if (code === busyCode) throw new SendFailure('retry', 'WhatsApp limits this account', { retryAfterMs: 60_000 });
  throw new SendFailure('retry', 'WhatsApp refused the message');
}

const placeOf = (id: string): string => String(createHash('sha256').update(id).digest().readUInt32BE(0) % keptMessages);
