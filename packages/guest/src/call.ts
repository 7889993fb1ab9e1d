import { IncomingMessage, request as httpRequest, type ClientRequest, type RequestOptions } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { boundedJson, NamedError, textBounds } from '@lodge/domain';
import type { Dial } from './dial.ts';
import { guestAddress, protocolVersion } from './protocol.ts';

/**
 * Thrown when the guest answered with an error, or spoke another protocol version. `status` is null when it did not answer.
 */
export class GuestError extends NamedError {
  readonly status: number | null;
  /** The guest's own words for the reason. Whoever controls the guest chooses them. */
  readonly reason: string | null;
  constructor(status: number | null, message: string, options: ErrorOptions & { readonly reason?: string } = {}) {
    super(message, options);
    this.status = status;
    this.reason = options.reason ?? null;
  }
}

/** Thrown when the guest answered with more than requested. */
export class ReplyTooLongError extends GuestError {
  constructor(limitBytes: number) {
    super(null, `the guest's reply is longer than ${limitBytes} bytes`);
  }
}

interface Target {
  readonly dial: Dial;
  readonly port: number;
  /** Headers such as the credential by which the daemon recognises the host. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path with the query. */
  readonly path: string;
}

export interface GuestCall extends Target {
  readonly body?: Uint8Array;
  /** Longest reply. A longer one is an error, because the guest does not decide how much memory the host spends. */
  readonly replyBytes: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/**
 * Makes one call on a new connection. A connection that was open when the guest was cloned, paused or moved would be dead
 * without a sign. Resolves with the body of a 2xx reply.
 */
export async function callGuest(call: GuestCall): Promise<Buffer> {
  call.signal?.throwIfAborted();
  const deadline = AbortSignal.timeout(call.timeoutMs);
  const signal = call.signal ? AbortSignal.any([call.signal, deadline]) : deadline;
  const name = nameOf(call);
  try {
    const reply = await send(call, signal);
    const bytes = await readBounded(reply, call.replyBytes);
    return checked(reply, bytes, name);
  } catch (error) {
    call.signal?.throwIfAborted();
    if (error instanceof GuestError) throw error;
    const why = deadline.aborted ? `within ${call.timeoutMs} ms` : `(${(error as Error).message})`;
    throw new GuestError(null, `the guest did not answer ${name} ${why}`, { cause: error });
  }
}

function send(call: GuestCall, signal: AbortSignal): Promise<IncomingMessage> {
  const { body } = call;
  const request = requestFor(call, body ? { 'content-length': body.byteLength } : {}, signal, signal);
  request.end(body);
  return replyTo(request);
}

/** `dialling` bounds the connection, and `signal` the whole call. */
function requestFor(
  target: Target,
  headers: Readonly<Record<string, string | number>>,
  dialling: AbortSignal,
  signal?: AbortSignal,
): ClientRequest {
  const { dial, port, method, path } = target;
  const createConnection: RequestOptions['createConnection'] = (_, created) => {
    dial(port, dialling).then(
      (socket) => created(null, socket),
      (error: unknown) => created(error as Error, undefined as never),
    );
    return undefined;
  };
  const all = { ...target.headers, ...headers };
  // The name is the guest's own for itself, the same whichever way leads there.
  const host = guestAddress;
  return httpRequest({ host, port, method, path, headers: all, createConnection, ...(signal && { signal }) });
}

function replyTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject);
    // A guest that switches protocols unasked closes its connection silently.
    request.on('close', () => reject(new Error('closed without a reply')));
  });
}

const never = new AbortController().signal;

export interface StreamCall extends Target {
  readonly body?: Readable | Uint8Array;
  /** The call fails when nothing moved in either direction for this long. Without it only the signal ends the call. */
  readonly stallMs?: number;
  readonly signal?: AbortSignal;
}

/** Makes a call with bodies of any size and speed. Resolves with the head of a 2xx reply. The signal ends the reply, too. */
export async function streamGuest(call: StreamCall): Promise<IncomingMessage> {
  call.signal?.throwIfAborted();
  const { body } = call;
  const length = body instanceof Uint8Array ? { 'content-length': body.byteLength } : {};
  const request = requestFor(call, length, call.signal ?? never, call.signal);
  const name = nameOf(call);
  const { stallMs } = call;
  if (stallMs !== undefined) {
    request.setTimeout(stallMs, () => request.destroy(new Error(`nothing went either way for ${stallMs} ms`)));
  }
  try {
    const reply = replyTo(request);
    if (body === undefined || body instanceof Uint8Array) request.end(body);
    else await Promise.race([reply, pipeline(body, request)]);
    return await accepted(await reply, name);
  } catch (error) {
    call.signal?.throwIfAborted();
    if (error instanceof GuestError) throw error;
    throw new GuestError(null, `the guest did not answer ${name} (${(error as Error).message})`, { cause: error });
  }
}

/**
 * Opens a connection in the protocol that the header `upgrade` names. Bytes behind the reply's head are put in front of it.
 */
export async function upgradeGuest(
  call: Target & { readonly timeoutMs: number; readonly signal?: AbortSignal },
  upgrade: string,
): Promise<Duplex> {
  const deadline = AbortSignal.timeout(call.timeoutMs);
  const signal = call.signal ? AbortSignal.any([call.signal, deadline]) : deadline;
  const request = requestFor(call, { connection: 'upgrade', upgrade }, signal);
  const stop = (): void => void request.destroy(signal.reason as Error);
  signal.addEventListener('abort', stop);
  const upgraded = new Promise<Duplex>((resolve, reject) => {
    request.on('upgrade', (reply, socket, head) => {
      if (head.length > 0) socket.unshift(head);
      if (reply.headers['x-guestd-protocol'] === String(protocolVersion)) resolve(socket);
      else {
        socket.destroy();
        reject(new Error('it speaks another protocol'));
      }
    });
  });
  try {
    const reply = replyTo(request);
    request.end();
    const first = await Promise.race([upgraded, reply]);
    if (!(first instanceof IncomingMessage)) return first;
    await accepted(first, nameOf(call));
    throw new Error('it did not upgrade the connection');
  } catch (error) {
    call.signal?.throwIfAborted();
    request.destroy();
    if (error instanceof GuestError) throw error;
    throw new GuestError(null, `the guest did not answer ${nameOf(call)} (${(error as Error).message})`, {
      cause: error,
    });
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

const nameOf = ({ method, path }: Target): string => `${method} ${path.split('?')[0]}`;

/** Returns the reply when it is a good one; else throws. */
async function accepted(reply: IncomingMessage, name: string): Promise<IncomingMessage> {
  const status = reply.statusCode ?? 0;
  const spoken = reply.headers['x-guestd-protocol'];
  if (spoken === String(protocolVersion) && status >= 200 && status < 300) return reply;
  checked(reply, await readBounded(reply, textBounds.guestReply.bytes), name);
  return reply;
}

export async function readBounded(reply: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of reply as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limitBytes) throw new ReplyTooLongError(limitBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

function checked(reply: IncomingMessage, bytes: Buffer, name: string): Buffer {
  const status = reply.statusCode ?? 0;
  const spoken = reply.headers['x-guestd-protocol'];
  if (spoken !== String(protocolVersion)) {
    const theirs = spoken === undefined ? 'no guest protocol' : `guest protocol ${String(spoken)}`;
    throw new GuestError(status, `what answered speaks ${theirs}, the host speaks ${protocolVersion}`);
  }
  if (status >= 200 && status < 300) return bytes;
  const reason = errorText(bytes);
  throw new GuestError(status, `the guest refused ${name}: ${reason}`, { reason });
}

function errorText(bytes: Buffer): string {
  try {
    const { error } = boundedJson(bytes, textBounds.guestReply) as { error?: unknown };
    if (typeof error === 'string') return error.slice(0, 500);
  } catch {
    // This is not the daemon's own error, and its text is not reliable.
  }
  return 'no reason given';
}
