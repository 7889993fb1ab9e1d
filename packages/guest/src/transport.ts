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
import { maxFileBytes, maxJsonBytes } from './protocol.ts';
import { replyFrom, type Reply } from './shape.ts';

export interface CallOptions {
  /** Default 10 s; `sync`, `writeFile` and `readFile` 60 s; `exec` and `stopRuntime` 10 s more than the request's own limit. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export const shortMs = 10_000;
export const longMs = 60_000;
/** A body of any size fails when nothing of it went for so long. Long enough for a disk that writes out what came before. */
export const stallMs = 120_000;

type Bounds = 'address' | 'port' | 'timeoutMs' | 'signal';

/** Calls to one guest's daemon. */
export class Transport {
  private readonly target: { readonly address: string; readonly port: number };

  constructor(address: string, port: number) {
    this.target = { address, port };
  }

  async json(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body: object | undefined,
    defaultTimeoutMs: number,
    bounds: JsonBounds,
    options: CallOptions,
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

  async call(request: Omit<GuestCall, Bounds>, defaultTimeoutMs: number, options: CallOptions): Promise<Buffer> {
    const most = request.method === 'PUT' ? maxFileBytes : maxJsonBytes;
    if ((request.body?.byteLength ?? 0) > most) throw new GuestError(413, `a guest takes at most ${most} bytes`);
    return callGuest({
      ...request,
      ...this.target,
      timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
      ...(options.signal && { signal: options.signal }),
    });
  }

  async stream(
    call: Omit<StreamCall, 'address' | 'port' | 'signal' | 'stallMs'>,
    bounds: Pick<StreamCall, 'signal' | 'stallMs'>,
  ): Promise<IncomingMessage> {
    return streamGuest({ ...call, ...this.target, ...bounds });
  }

  async upgrade(path: string, protocol: string, options: CallOptions): Promise<Duplex> {
    const { timeoutMs = 2 * shortMs, signal } = options;
    return upgradeGuest({ ...this.target, method: 'GET', path, timeoutMs, ...(signal && { signal }) }, protocol);
  }
}

/** The whole of a small reply in JSON. */
export async function smallJson(reply: IncomingMessage, what: string): Promise<Reply> {
  return replyFrom(await readBounded(reply, textBounds.guestReply.bytes), what);
}
