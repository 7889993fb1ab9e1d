/** Forwards a request to a web server in a guest, and its answer back. Nothing is kept, so the slower side sets the pace. */
import { Refusal } from '@lodge/domain';
import type { Dial, GuestConnection } from '@lodge/ports';
import { request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Duplex } from 'node:stream';
import { hasBody, headersForClient, headersForGuest, upgraded } from './headers.ts';
import type { Passing } from './headers.ts';

/** A guest is a hop away: it accepts a connection at once or not at all. */
const connectTimeoutMs = 5_000;
const maxHeaderBytes = 64 * 1024;

export interface Target extends Passing {
  readonly dial: Dial;
  readonly port: number;
  /** Time without traffic after which a connection is closed. */
  readonly idleMs: number;
  /** Ends the request, wherever it is. */
  readonly signal: AbortSignal;
}

export async function forward(target: Target, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const upstream = await open(target, request, {});
  if (hasBody(request)) pipeline(request, upstream).catch(() => upstream.destroy());
  else upstream.end();
  await pass(target, await reply(upstream), request, response);
}

export interface Handshake {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** The same for a WebSocket: until both sides have ended it, or a refusal has been passed on. */
export async function tunnel(target: Target, { request, response, socket, head }: Handshake): Promise<void> {
  const upstream = await open(target, request, upgraded);
  const far = new Promise<readonly [IncomingMessage, Duplex, Buffer]>((resolve) => {
    upstream.once('upgrade', (reply, guest, first) => resolve([reply, guest, first]));
  });
  upstream.end();
  const outcome = await Promise.race([far, reply(upstream)]);
  if (!('length' in outcome)) return pass(target, outcome, request, response);
  const [reply101, guest, first] = outcome;
  if (reply101.headers.upgrade?.toLowerCase() !== 'websocket') {
    guest.destroy();
    throw notAnswering(new Error(`upgraded to ${reply101.headers.upgrade}`));
  }
  socket.write(headOf({ ...headersForClient(reply101, target), ...upgraded }));
  socket.write(first);
  guest.write(head);
  // Either side may end first; its earlier data still arrives.
  await Promise.allSettled([pipeline(socket, guest), pipeline(guest, socket)]);
}

async function open(target: Target, request: IncomingMessage, more: OutgoingHttpHeaders): Promise<ClientRequest> {
  const guest = await connected(target);
  try {
    const upstream = httpRequest({
      createConnection: () => guest,
      method: request.method!,
      path: request.url!,
      headers: { ...headersForGuest(request, target), ...more },
      maxHeaderSize: maxHeaderBytes,
    });
    // A waiting caller hears of the error; after the answer nobody needs to.
    return upstream.on('error', () => undefined);
  } catch (error) {
    guest.destroy();
    throw new Refusal('invalid_request', 'The request is malformed.', { cause: error });
  }
}

async function connected({ dial, port, idleMs, signal }: Target): Promise<GuestConnection> {
  const bound = AbortSignal.any([signal, AbortSignal.timeout(connectTimeoutMs)]);
  const guest = await dial(port, bound).catch((error: unknown) => {
    throw notAnswering(error);
  });
  const end = (): unknown => guest.destroy();
  signal.addEventListener('abort', end);
  guest.once('close', () => signal.removeEventListener('abort', end));
  if (signal.aborted) end();
  return guest.setTimeout(idleMs, end);
}

/** If a guest switches to another protocol unasked, only the close of its connection is noticed. */
function reply(upstream: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    upstream.once('response', resolve);
    upstream.once('error', (error) => reject(notAnswering(error)));
    upstream.once('close', () => reject(notAnswering(new Error('closed without a reply'))));
  });
}

async function pass(
  target: Target,
  reply: IncomingMessage,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // If the guest did not read all of a body, its rest is not read here either.
  const isOver = request.complete || !hasBody(request);
  response.writeHead(reply.statusCode!, {
    ...headersForClient(reply, target),
    ...(!isOver && { connection: 'close' }),
  });
  response.flushHeaders();
  await pipeline(reply, response);
}

function headOf(headers: OutgoingHttpHeaders): string {
  const lines = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`));
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`;
}

const notAnswering = (cause: unknown): Refusal =>
  new Refusal('agent_unavailable', 'Nothing answers there in the agent at the moment. Try again shortly.', { cause });
