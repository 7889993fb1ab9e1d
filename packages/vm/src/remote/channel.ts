/**
 * Messages between two processes over one stream: a length of four bytes, then JSON. Each message is an object whose `kind`
 * names its receiver. The other end may be hostile: a message is bounded before it is stored and measured before it is read.
 * Anything that is no message of this protocol ends the channel, because its end could not be found.
 */
import type { Duplex } from 'node:stream';
import { boundedJson, isJsonObject, NamedError } from '@lodge/domain';

/**
 * The kinds of other ends: how large a message may be in either direction, and whether a peer that does not read is still
 * read. A list of 16,384 VMs is the largest message. A control plane sends far less, and the process that looks names up
 * sends some addresses. `relayKeeper` is a control plane as its relays see it: it sends 50 channels with their secrets at
 * once, and receives messages.
 */
const peers = {
  machineHost: { maxBytes: 16 * 2 ** 20, maxSentBytes: 2 ** 20, waitsForReader: false },
  controlPlane: { maxBytes: 2 ** 20, maxSentBytes: 16 * 2 ** 20, waitsForReader: true },
  names: { maxBytes: 2 ** 14, maxSentBytes: 16 * 2 ** 20, waitsForReader: true },
  relayKeeper: { maxBytes: 16 * 2 ** 20, maxSentBytes: 4 * 2 ** 20, waitsForReader: false },
  relay: { maxBytes: 4 * 2 ** 20, maxSentBytes: 16 * 2 ** 20, waitsForReader: true },
} as const;
const lengthBytes = 4;
const maxDepth = 64;
const maxElements = 2 ** 18;
/** A peer that does not read is ended when this much waits for it. */
const maxUnsentBytes = 64 * 2 ** 20;

export type Message = Readonly<Record<string, unknown>> & { readonly kind: string };
/** `bytes` is the length of the received message. */
export type Receiver = (message: Message, bytes: number) => void;

/** A message broke the rules. */
export class ChannelError extends NamedError {}

export interface ChannelOptions {
  /**
   * The kind of the other end. One that may be hostile and does not read is not read either, so that its waiting data is
   * bounded. The other kind is always read, or both ends could wait for each other.
   */
  readonly peer: keyof typeof peers;
}

export class Channel {
  /** Resolves when the channel has ended: with the error, or with null when the other end closed it. */
  readonly ended: Promise<ChannelError | null>;
  private readonly stream: Duplex;
  private readonly maxBytes: number;
  private readonly maxSentBytes: number;
  private readonly waitsForReader: boolean;
  private readonly receivers = new Map<string, Receiver>();
  private readonly end: (why: ChannelError | null) => void;
  private readonly head = Buffer.alloc(lengthBytes);
  private headBytes = 0;
  /** The message that has not arrived whole; null before its length has. */
  private body: Buffer | null = null;
  private bodyBytes = 0;
  private isOpen = true;

  /** Nothing is read before `open`. */
  constructor(stream: Duplex, { peer }: ChannelOptions) {
    this.stream = stream;
    const { maxBytes, maxSentBytes, waitsForReader } = peers[peer];
    this.maxBytes = maxBytes;
    this.maxSentBytes = maxSentBytes;
    this.waitsForReader = waitsForReader;
    const { promise, resolve } = Promise.withResolvers<ChannelError | null>();
    this.ended = promise;
    this.end = (why) => {
      this.isOpen = false;
      resolve(why);
    };
    stream.on('error', () => this.close()).on('close', () => this.close());
  }

  /** Sets the receiver of messages of this kind. */
  receive(kind: string, receiver: Receiver): void {
    this.receivers.set(kind, receiver);
  }

  /** Begins to read, once every receiver is set. */
  open(): void {
    this.stream.on('data', (chunk: Buffer) => this.take(chunk)).on('end', () => this.close());
  }

  /** Sends nothing once the channel has ended. Throws `ChannelError` for a message that the other end would refuse. */
  send(message: Message): void {
    if (!this.isOpen) return;
    const body = Buffer.from(JSON.stringify(message));
    if (body.length > this.maxSentBytes) {
      throw new ChannelError(`a message of ${body.length} bytes, more than ${this.maxSentBytes}`);
    }
    const frame = Buffer.allocUnsafe(lengthBytes + body.length);
    frame.writeUInt32BE(body.length);
    body.copy(frame, lengthBytes);
    if (this.waitsForReader && this.stream.writableLength + frame.length > maxUnsentBytes) {
      this.fail('the other end does not read');
    } else if (!this.stream.write(frame) && this.waitsForReader && !this.stream.isPaused()) {
      this.stream.pause();
      this.stream.once('drain', () => this.stream.resume());
    }
  }

  close(): void {
    this.end(null);
    this.stream.destroy();
  }

  private fail(why: string): void {
    this.end(new ChannelError(why));
    this.stream.destroy();
  }

  /** The kept bytes are copied: chunks of a byte each would occupy some 700 bytes for one. */
  private take(chunk: Buffer): void {
    for (let at = 0; this.isOpen && at < chunk.length;) {
      if (this.body === null) at += this.takeHead(chunk, at);
      else {
        const copied = chunk.copy(this.body, this.bodyBytes, at);
        this.bodyBytes += copied;
        at += copied;
      }
      if (this.body !== null && this.bodyBytes === this.body.length) this.takeWhole(this.body);
    }
  }

  /** Returns how many bytes belonged to the length. */
  private takeHead(chunk: Buffer, at: number): number {
    const copied = chunk.copy(this.head, this.headBytes, at);
    this.headBytes += copied;
    if (this.headBytes === lengthBytes) {
      const bytes = this.head.readUInt32BE();
      if (bytes > this.maxBytes) this.fail(`a message of ${bytes} bytes, more than ${this.maxBytes}`);
      else this.body = Buffer.allocUnsafe(bytes);
    }
    return copied;
  }

  private takeWhole(body: Buffer): void {
    this.body = null;
    this.bodyBytes = this.headBytes = 0;
    this.dispatch(body);
  }

  private dispatch(body: Buffer): void {
    let message: unknown;
    try {
      message = boundedJson(body, { bytes: this.maxBytes, depth: maxDepth, elements: maxElements });
    } catch (error) {
      return this.fail((error as Error).name === 'JsonBoundsError' ? (error as Error).message : 'a message is no JSON');
    }
    const kind = isJsonObject(message) ? message['kind'] : undefined;
    const receiver = typeof kind === 'string' ? this.receivers.get(kind) : undefined;
    if (!receiver) return this.fail('a message of no known kind');
    try {
      receiver(message as Message, body.length);
    } catch (error) {
      if (!(error instanceof ChannelError)) throw error;
      this.fail(error.message);
    }
  }
}
