import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  callGuest,
  readBounded,
  GuestError,
  streamGuest,
  upgradeGuest,
  type GuestCall,
  type StreamCall,
} from './call.ts';
import { textBounds } from '@lodge/domain';
import type { JsonBounds } from '@lodge/domain';
import type { Dial } from './dial.ts';
import { claimHeader } from './credential.ts';
import { guestdPort, maxFileBytes, maxJsonBytes } from './protocol.ts';
import { replyFrom, type Reply } from './shape.ts';

export interface CallOptions {
  /**
   * Bound on the call. By default 10 s, more on a slow host (`Guest.pace`); `sync`, `writeFile` and `readFile` 60 s; `exec`
   * and `stopRuntime` 10 s more than the request's own limit.
   */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** The credential by which the daemon recognises the host from this call on, in place of an earlier one or none. */
export interface Claim {
  readonly claim?: string;
}

const shortMs = 10_000;
const longMs = 60_000;
/**
 * A body of any size fails when nothing of it moved for this long. It is long enough for a disk that writes out earlier
 * data.
 */
export const stallMs = 120_000;

type Bounds = 'dial' | 'port' | 'headers' | 'timeoutMs' | 'signal';

/** The way to a guest's daemon, and the credential by which it recognises the host. */
export interface Guest {
  readonly dial: Dial;
  /** The TCP port, by default `guestdPort`. */
  readonly port?: number;
  /**
   * Returns the credential. It is fetched for each call, so it lies in nothing that could be logged. With null the guest has
   * none, and its daemon recognises the host by its address alone. A daemon older than credentials ignores one.
   */
  readonly credential: () => Promise<string | null>;
  /** Factor by which the guest's own work may take longer, 1 by default. The default bounds are multiplied by it. */
  readonly pace?: number;
}

/** Calls to one guest's daemon. */
export class Transport {
  /** Bounds on a call, for a guest of this pace. */
  readonly shortMs: number;
  readonly longMs: number;
  private readonly guest: Guest;

  constructor(guest: Guest) {
    this.guest = guest;
    const { pace = 1 } = guest;
    this.shortMs = shortMs * pace;
    this.longMs = longMs * pace;
  }

  private async target(claim?: string) {
    const { dial, port = guestdPort } = this.guest;
    const credential = await this.guest.credential();
    const headers = {
      ...(credential !== null && { authorization: `Bearer ${credential}` }),
      ...(claim !== undefined && { [claimHeader]: claim }),
    };
    return { dial, port, headers };
  }

  async json(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body: object | undefined,
    options: CallOptions & Claim = {},
    defaultTimeoutMs = this.shortMs,
    bounds: JsonBounds = textBounds.guestReply,
  ): Promise<Reply> {
    const request = {
      method,
      path,
      replyBytes: bounds.bytes,
      ...(body && { body: Buffer.from(JSON.stringify(body)) }),
    };
    const reply = await this.call(request, defaultTimeoutMs, options);
    return replyFrom(reply, `${method} ${path.split('?')[0]}`, bounds);
  }

  async call(
    request: Omit<GuestCall, Bounds>,
    defaultTimeoutMs: number,
    options: CallOptions & Claim,
  ): Promise<Buffer> {
    const most = request.method === 'PUT' ? maxFileBytes : maxJsonBytes;
    if ((request.body?.byteLength ?? 0) > most) throw new GuestError(413, `a guest takes at most ${most} bytes`);
    return callGuest({
      ...request,
      ...(await this.target(options.claim)),
      timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
      ...(options.signal && { signal: options.signal }),
    });
  }

  async stream(
    call: Omit<StreamCall, 'dial' | 'port' | 'headers' | 'signal' | 'stallMs'>,
    bounds: Pick<StreamCall, 'signal' | 'stallMs'>,
  ): Promise<IncomingMessage> {
    return streamGuest({ ...call, ...(await this.target()), ...bounds });
  }

  async upgrade(path: string, protocol: string, options: CallOptions): Promise<Duplex> {
    const { timeoutMs = 2 * this.shortMs, signal } = options;
    const call = { ...(await this.target()), method: 'GET', path, timeoutMs, ...(signal && { signal }) } as const;
    return upgradeGuest(call, protocol);
  }
}

/** Reads the whole of a small reply in JSON. */
export async function smallJson(reply: IncomingMessage, what: string): Promise<Reply> {
  return replyFrom(await readBounded(reply, textBounds.guestReply.bytes), what);
}
