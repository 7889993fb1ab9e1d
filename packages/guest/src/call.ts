import { request as httpRequest, type IncomingMessage } from 'node:http';
import { protocolVersion } from './protocol.ts';

/** The guest answered with an error, or spoke another protocol version. `status` is null when it did not answer. */
export class GuestError extends Error {
  readonly status: number | null;
  constructor(status: number | null, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'GuestError';
    this.status = status;
  }
}

export interface GuestCall {
  readonly address: string;
  readonly port: number;
  readonly method: 'GET' | 'POST' | 'PUT';
  /** With the query. */
  readonly path: string;
  readonly body?: Uint8Array;
  /** A longer reply is an error: the guest does not decide how much memory the host spends. */
  readonly replyBytes: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/**
 * One call on a connection of its own: a connection that was open when the guest was cloned, paused or moved is dead without
 * knowing it. Resolves with the body of a 2xx reply.
 */
export async function callGuest(call: GuestCall): Promise<Buffer> {
  call.signal?.throwIfAborted();
  const deadline = AbortSignal.timeout(call.timeoutMs);
  const signal = call.signal ? AbortSignal.any([call.signal, deadline]) : deadline;
  const name = `${call.method} ${call.path.split('?')[0]}`;
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
  return new Promise((resolve, reject) => {
    const { address: host, port, method, path, body } = call;
    const headers = body ? { 'content-length': body.byteLength } : {};
    const request = httpRequest({ host, port, method, path, headers, signal, agent: false });
    request.on('response', resolve);
    request.on('error', reject);
    request.end(body);
  });
}

async function readBounded(reply: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of reply as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limitBytes) throw new GuestError(null, `the guest's reply is longer than ${limitBytes} bytes`);
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
  throw new GuestError(status, `the guest refused ${name}: ${errorText(bytes)}`);
}

function errorText(bytes: Buffer): string {
  try {
    const { error } = JSON.parse(bytes.toString()) as { error?: unknown };
    if (typeof error === 'string') return error.slice(0, 500);
  } catch {
    // Not the daemon's own error: its text says nothing that could be relied on.
  }
  return 'no reason given';
}
