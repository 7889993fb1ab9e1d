import { boundedJson, isJsonObject, NamedError } from '@lodge/domain';
import type { JsonBounds } from '@lodge/domain';
import { WebSocket } from 'ws';
import type { RawData } from 'ws';

/** Bounds of a frame: a message of 40,000 characters with its blocks. */
const frameBounds: JsonBounds = { bytes: 1024 * 1024, depth: 64, elements: 50_000 };

export interface SocketTimings {
  readonly helloTimeoutMs: number;
  readonly pingEveryMs: number;
  /** Without a single frame, a pong included. */
  readonly deadAfterMs: number;
}

/** Why a socket ended, or should be replaced. */
export type SocketEnd = 'refresh' | 'closed' | 'dead' | 'disabled' | 'too_many' | 'deaf' | 'full';

/** Called at once, in the order of the frames. */
interface SocketEvents {
  hello(socket: SlackSocket): void;
  envelope(envelope: Envelope, socket: SlackSocket): void;
}

/** It ended before its hello. */
export class SocketRefusal extends NamedError {
  readonly end: SocketEnd;
  constructor(end: SocketEnd) {
    super(`a socket of Slack ended before its hello: ${end}`);
    this.end = end;
  }
}

export interface Envelope {
  readonly id: string;
  readonly type: string;
  readonly payload: unknown;
  readonly bytes: number;
}

/**
 * One socket of Socket Mode, from its opening to its end. `ended` resolves with why it is over; `refresh` before that, when Slack
 * asks for another one: this one still delivers until it is closed. See docs.slack.dev/apis/events-api/using-socket-mode.
 */
export class SlackSocket {
  readonly ended: Promise<SocketEnd>;
  readonly wantsReplacement: Promise<SocketEnd>;
  private readonly socket: WebSocket;
  private readonly timings: SocketTimings;
  private readonly on: SocketEvents;
  private readonly hello = Promise.withResolvers<void>();
  private readonly end = Promise.withResolvers<SocketEnd>();
  private readonly replacement = Promise.withResolvers<SocketEnd>();
  private heartbeat: NodeJS.Timeout | null = null;
  private lastFrameAt = performance.now();
  private lastBeatAt = performance.now();

  private constructor(url: string, timings: SocketTimings, on: SocketEvents) {
    this.timings = timings;
    this.on = on;
    this.ended = this.end.promise;
    this.wantsReplacement = this.replacement.promise;
    this.hello.promise.catch(() => undefined);
    this.socket = new WebSocket(url, {
      followRedirects: false,
      handshakeTimeout: timings.helloTimeoutMs,
      maxPayload: frameBounds.bytes,
      perMessageDeflate: false,
    });
    // Its message may carry the URL with its ticket: the close that follows says enough.
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => this.over('closed'));
    this.socket.on('message', (data, isBinary) => this.take(data, isBinary));
    for (const event of ['ping', 'pong'] as const) this.socket.on(event, () => this.alive());
  }

  /** Resolves at Slack's hello. Rejects when there is none in time, or the socket ends before. */
  static async open(url: string, timings: SocketTimings, on: SocketEvents, signal: AbortSignal): Promise<SlackSocket> {
    signal.throwIfAborted();
    const opened = new SlackSocket(url, timings, on);
    const giveUp = (): void => opened.terminate('closed');
    const timer = setTimeout(giveUp, timings.helloTimeoutMs);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      await opened.hello.promise;
      return opened;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    }
  }

  acknowledge(envelope: Envelope): void {
    if (this.socket.readyState !== WebSocket.OPEN) return;
    this.socket.send(JSON.stringify({ envelope_id: envelope.id }), () => undefined);
  }

  /** The other side has a second for its part of the goodbye. */
  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.OPEN) {
      this.socket.close(1000);
      const timer = setTimeout(() => this.terminate('closed'), 1_000);
      await this.ended;
      clearTimeout(timer);
    } else this.terminate('closed');
  }

  terminate(why: SocketEnd): void {
    this.over(why);
    this.socket.terminate();
  }

  /** Asks the socket's holder for another one in its place. */
  replace(why: SocketEnd): void {
    this.replacement.resolve(why);
  }

  private alive(): void {
    this.lastFrameAt = performance.now();
  }

  private over(why: SocketEnd): void {
    clearInterval(this.heartbeat ?? undefined);
    this.end.resolve(why);
    this.replacement.resolve(why);
    this.hello.reject(new SocketRefusal(why));
  }

  private beat(): void {
    const { pingEveryMs, deadAfterMs } = this.timings;
    const now = performance.now();
    // A process that was held up has not read yet what came meanwhile.
    const isLate = now - this.lastBeatAt > 2 * pingEveryMs;
    this.lastBeatAt = now;
    if (!isLate && now - this.lastFrameAt > deadAfterMs) return this.terminate('dead');
    if (this.socket.readyState === WebSocket.OPEN) this.socket.ping(undefined, undefined, () => undefined);
  }

  private take(data: RawData, isBinary: boolean): void {
    this.alive();
    const frame = isBinary ? null : frameOf(data as Buffer);
    if (frame === null) return;
    switch (frame['type']) {
      case 'hello':
        if (this.heartbeat) return;
        this.heartbeat = setInterval(() => this.beat(), this.timings.pingEveryMs);
        this.on.hello(this);
        this.hello.resolve();
        return;
      case 'disconnect':
        return this.disconnect(frame['reason']);
      default: {
        const { envelope_id: id, type, payload } = frame;
        if (typeof id !== 'string' || id.length > 200 || typeof type !== 'string') return;
        this.on.envelope({ id, type, payload, bytes: (data as Buffer).byteLength }, this);
      }
    }
  }

  private disconnect(reason: unknown): void {
    switch (reason) {
      case 'link_disabled':
        return this.terminate('disabled');
      case 'too_many_websockets':
        return this.terminate('too_many');
      default:
        // "warning" comes some 10 s before the end, "refresh_requested" with it.
        this.replace('refresh');
    }
  }
}

function frameOf(data: Buffer): Readonly<Record<string, unknown>> | null {
  try {
    const frame = boundedJson(data, frameBounds);
    return isJsonObject(frame) ? frame : null;
  } catch {
    return null;
  }
}
