/**
 * Messages between two processes over one stream: a length of four bytes, then JSON. Each message is an object whose `kind`
 * names who receives it. The other end may be hostile: a message is bounded before it is held and measured before it is read.
 * What is no message of this protocol ends the channel: nothing that follows could be told apart.
 */
import type { Duplex } from 'node:stream';
import { boundedJson, isJsonObject } from '@lodge/domain';

/**
 * Who is at the other end: what one message may hold in either direction, and whether a peer that does not read is not read
 * either. A list of 16,384 VMs is the largest there is; a control plane sends far less, and
 * the process that looks names up some addresses. `relayKeeper` is a control plane as its
 * relays see it: it gives 50 channels with their secrets at once, and is given messages.
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
/** Who does not read is ended when so much waits for it. */
const maxUnsentBytes = 64 * 2 ** 20;

export type Message = Readonly<Record<string, unknown>> & { readonly kind: string };
/** `bytes`: how long the message was as it came. */
export type Receiver = (message: Message, bytes: number) => void;

/** What a message broke. */
export class ChannelError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ChannelError';
  }
}

export interface ChannelOptions {
  /**
   * Who is at the other end. Who may be hostile and does not read is not read either: what waits for it is bounded. The other
   * one is always read: were both to wait for the other to read, neither would.
   */
  readonly peer: keyof typeof peers;
}

export class Channel {
  /** Resolves when the channel has ended: with why, or with null when the other end closed it. */
  readonly ended: Promise<ChannelError | null>;
  private readonly stream: Duplex;
  private readonly maxBytes: number;
  private readonly maxSentBytes: number;
  private readonly waitsForReader: boolean;
  private readonly receivers = new Map<string, Receiver>();
  private readonly end: (why: ChannelError | null) => void;
  private readonly head = Buffer.alloc(lengthBytes);
  private headBytes = 0;
  /** Of the message that has not come whole; null before its length has. */
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

  /** Whom messages of this kind go to. */
  receive(kind: string, receiver: Receiver): void {
    this.receivers.set(kind, receiver);
  }

  /** Begins to read: every receiver is known. */
  open(): void {
    this.stream.on('data', (chunk: Buffer) => this.take(chunk)).on('end', () => this.close());
  }

  /** Nothing is sent once the channel has ended. Throws `ChannelError` for a message that the other end would refuse. */
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

  /** What is held is copied: chunks of a byte each would hold some 700 bytes for one. */
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

  /** Gives how many bytes were of the length. */
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
