import { boundedJson, isJsonObject, NamedError } from '@lodge/domain';
import type { JsonBounds } from '@lodge/domain';
import { WebSocket } from 'ws';
import type { RawData } from 'ws';
import { GatewayOpcodes } from 'discord-api-types/v10';
import type { DiscordSession } from './places.ts';

/** Bounds of a frame: a server with all its channels and roles comes after a login. */
const frameBounds: JsonBounds = { bytes: 8 * 1024 * 1024, depth: 64, elements: 300_000 };

export interface GatewayTimings {
  /** Until the gateway's hello, and from there until it is ready. */
  readonly helloTimeoutMs: number;
  readonly readyTimeoutMs: number;
}

/**
 * - `dead`: a heartbeat was not acknowledged. `reconnect`: the gateway asks for it. `full`: we have no room for an event.
 * - `deaf`: it delivers nothing. `invalid`: the session is not known, or not now.
 */
export type GatewayEnd =
  | { readonly why: 'closed'; readonly code: number }
  | { readonly why: 'dead' | 'reconnect' | 'full' | 'deaf' | 'late' }
  | { readonly why: 'invalid'; readonly canResume: boolean };

export interface Dispatch {
  readonly type: string;
  readonly seq: number;
  readonly data: unknown;
  readonly bytes: number;
}

export interface Login {
  readonly token: string;
  readonly intents: number;
  /** Null: a new session. */
  readonly session: DiscordSession | null;
}

/** A socket ended before its session began. */
export class GatewayRefusal extends NamedError {
  readonly end: GatewayEnd;
  /** It had come so far that the gateway was asked for the session. */
  readonly wasAsked: boolean;
  constructor(end: GatewayEnd, wasAsked: boolean) {
    super(`the gateway gave no session: ${end.why}`);
    this.end = end;
    this.wasAsked = wasAsked;
  }
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * One socket of the gateway, from its opening to its end; docs.discord.com/developers/events/gateway. An own one, because
 * `@discordjs/ws` 2.0.4 ends the process when it is closed while it connects, or when a frame has no data, and bounds no frame.
 */
export class GatewaySocket {
  readonly ended: Promise<GatewayEnd>;
  /** With the number of the last event that was taken. */
  session: DiscordSession | null;
  private readonly socket: WebSocket;
  private readonly login: Login;
  private readonly onDispatch: (dispatch: Dispatch, socket: GatewaySocket) => boolean;
  private readonly end = Promise.withResolvers<GatewayEnd>();
  private readonly ready = Promise.withResolvers<void>();
  private wasAsked = false;
  private isOver = false;
  private isAcknowledged = true;
  private seq: number | null;
  private timer: NodeJS.Timeout | null = null;

  private constructor(url: string, login: Login, handshakeTimeoutMs: number, onDispatch: GatewaySocket['onDispatch']) {
    this.login = login;
    this.onDispatch = onDispatch;
    this.session = login.session;
    this.seq = login.session?.seq ?? null;
    this.ended = this.end.promise;
    this.ready.promise.catch(() => undefined);
    this.socket = new WebSocket(url, {
      followRedirects: false,
      handshakeTimeout: handshakeTimeoutMs,
      maxPayload: frameBounds.bytes,
      perMessageDeflate: false,
    });
    // The close that follows says enough.
    this.socket.on('error', () => undefined);
    this.socket.on('close', (code) => this.over({ why: 'closed', code }));
    this.socket.on('message', (data, isBinary) => this.take(data, isBinary));
  }

  /** Resolves when the session has begun or goes on. Rejects with a `GatewayRefusal`, or the signal's reason. */
  static async open(
    url: string,
    login: Login,
    timings: GatewayTimings,
    onDispatch: GatewaySocket['onDispatch'],
    signal: AbortSignal,
  ): Promise<GatewaySocket> {
    signal.throwIfAborted();
    const opened = new GatewaySocket(url, login, timings.helloTimeoutMs, onDispatch);
    const giveUp = (): void => opened.terminate({ why: 'late' });
    const timer = setTimeout(giveUp, timings.helloTimeoutMs + timings.readyTimeoutMs);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      await opened.ready.promise;
      return opened;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    }
  }

  /** With a code that leaves the session to be resumed. */
  async close(): Promise<void> {
    if (this.socket.readyState !== WebSocket.OPEN) return this.terminate({ why: 'reconnect' });
    this.socket.close(4_900);
    const timer = setTimeout(() => this.terminate({ why: 'reconnect' }), 1_000);
    await this.ended;
    clearTimeout(timer);
  }

  terminate(end: GatewayEnd): void {
    this.over(end);
    this.socket.terminate();
  }

  private over(end: GatewayEnd): void {
    this.isOver = true;
    clearTimeout(this.timer ?? undefined);
    this.end.resolve(end);
    this.ready.reject(new GatewayRefusal(end, this.wasAsked));
  }

  private send(op: GatewayOpcodes, d: unknown): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ op, d }), () => undefined);
  }

  private take(data: RawData, isBinary: boolean): void {
    const frame = isBinary || this.isOver ? null : frameOf(data as Buffer);
    if (frame === null) return;
    const { op, d } = frame;
    switch (op) {
      case GatewayOpcodes.Hello:
        return this.hello(d);
      case GatewayOpcodes.HeartbeatAck:
        this.isAcknowledged = true;
        return;
      case GatewayOpcodes.Heartbeat:
        return this.send(GatewayOpcodes.Heartbeat, this.seq);
      case GatewayOpcodes.Reconnect:
        return this.leave({ why: 'reconnect' });
      case GatewayOpcodes.InvalidSession:
        return this.leave({ why: 'invalid', canResume: d === true });
      case GatewayOpcodes.Dispatch:
        return this.dispatch(frame, (data as Buffer).byteLength);
      default:
    }
  }

  private hello(d: unknown): void {
    if (this.wasAsked) return;
    const given = isJsonObject(d) ? Number(d['heartbeat_interval']) : Number.NaN;
    const intervalMs = Number.isFinite(given) ? Math.min(Math.max(given, minBeatMs), maxBeatMs) : usualBeatMs;
    this.timer = setTimeout(() => this.beat(intervalMs), intervalMs * Math.random());
    this.wasAsked = true;
    const { token, session, intents } = this.login;
    if (session) this.send(GatewayOpcodes.Resume, { token, session_id: session.id, seq: session.seq });
    else
      this.send(GatewayOpcodes.Identify, {
        token,
        intents,
        properties: { os: process.platform, browser: 'lodge', device: 'lodge' },
      });
  }

  private beat(intervalMs: number): void {
    if (!this.isAcknowledged) return this.terminate({ why: 'dead' });
    this.isAcknowledged = false;
    this.send(GatewayOpcodes.Heartbeat, this.seq);
    this.timer = setTimeout(() => this.beat(intervalMs), intervalMs);
  }

  private dispatch({ t: type, s: seq, d: data }: Fields, bytes: number): void {
    if (typeof type !== 'string' || !Number.isSafeInteger(seq)) return;
    if (type === 'READY') this.session = sessionOf(data);
    if (!this.onDispatch({ type, seq: seq as number, data, bytes }, this)) return this.leave({ why: 'full' });
    this.seq = seq as number;
    if (this.session) this.session = { ...this.session, seq: seq as number };
    if (type === 'READY' || type === 'RESUMED') this.ready.resolve();
  }

  private leave(end: GatewayEnd): void {
    this.over(end);
    this.socket.close(4_900);
    setTimeout(() => this.socket.terminate(), 1_000).unref();
  }
}

const minBeatMs = 50;
const usualBeatMs = 41_250;
const maxBeatMs = 120_000;

function sessionOf(data: unknown): DiscordSession | null {
  const { session_id: id, resume_gateway_url: resumeUrl } = isJsonObject(data) ? data : {};
  if (typeof id !== 'string' || id.length > 200 || typeof resumeUrl !== 'string' || resumeUrl.length > 500) return null;
  return { id, resumeUrl, seq: 0 };
}

function frameOf(data: Buffer): Fields | null {
  try {
    const frame = boundedJson(data, frameBounds);
    return isJsonObject(frame) ? frame : null;
  } catch {
    return null;
  }
}
