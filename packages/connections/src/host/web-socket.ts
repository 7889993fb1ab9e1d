/**
 * WebSockets of programs to hosts. The request that opens one is checked as any other, and its headers are filled in. After that
 * whole frames pass: those of the server are searched for the connection's secrets, those of the program for placeholders.
 * Compression is not offered, as nobody could look into it. All ends when the connection is changed or removed.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { PrivateAddressError } from '@lodge/egress';
import type { OutboundUpgrade } from '@lodge/egress';
import { requestHeaders } from '../http/headers.ts';
import { Refused } from '../http/refused.ts';
import { Access } from '../oauth/access.ts';
import { EchoSearch } from '../secret/echo-search.ts';
import type { Sought } from '../secret/echo-search.ts';
import { filled } from './forward.ts';
import type { HostRequest, HostWay } from './forward.ts';
import { Frames } from './frames.ts';
import { searchOf } from './passing-body.ts';

/** Longest frame, which is held until it was searched. */
const frameBytes = 4 * 2 ** 20;
const goodbyeMs = 1_000;
/** A change of the connection is seen so soon. */
const lookEveryMs = 5_000;

export const isUpgrade = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket';

export interface SocketEnd {
  /** Bytes of the program's, and of the server's. */
  readonly up: number;
  readonly down: number;
  /** Why it was cut; null where a side ended it. */
  readonly cut: string | null;
}

/** Thrown where frames do not pass. */
class Cut extends Error {}

/** Opens a WebSocket on the program's socket, and resolves at its end. Rejects with a `Refused` while nothing was answered. */
export async function openWebSocket(
  way: HostWay,
  request: HostRequest,
  guest: Duplex,
  signal: AbortSignal,
): Promise<SocketEnd> {
  const own = filled(way.credentials, request);
  const { headers, sought } = await new Access(way.logins, request.row).credentials();
  const server = await opened(way, request, { ...own, ...headers }, signal);
  server.socket.on('error', () => undefined);
  try {
    guest.write(switched(server, sought));
    return await relayed(way, request, { guest, server: server.socket, sought }, signal);
  } finally {
    server.socket.destroy();
  }
}

async function opened(
  { outbound, privateAddresses, bounds }: HostWay,
  { row, host, path, query, headers: given }: HostRequest,
  own: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<OutboundUpgrade> {
  const { 'sec-websocket-extensions': _, 'accept-encoding': _packed, ...headers } = requestHeaders(given, own);
  const bound = AbortSignal.any([signal, AbortSignal.timeout(bounds.handshakeMs * 3)]);
  try {
    const place = { privateAddresses, holder: row.accountId };
    return await outbound.upgrade(place, { url: `https://${host}${path}${query}`, headers, signal: bound });
  } catch (error) {
    if (error instanceof PrivateAddressError)
      throw new Refused(502, 'address_refused', 'The connection leads to an address that is not public.');
    throw new Refused(502, 'upstream_unreachable', 'The server could not be reached, or opened no WebSocket.');
  }
}

/** The answer that opens it, with the headers of the protocol alone. */
function switched({ headers }: OutboundUpgrade, sought: Sought): string {
  const { 'sec-websocket-accept': accept, 'sec-websocket-protocol': protocol } = headers;
  const fields = { 'sec-websocket-accept': accept, 'sec-websocket-protocol': protocol };
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}\r\n`],
  );
  const text = lines.join('');
  if (headers['sec-websocket-extensions'] !== undefined || !/^[\x20-\x7e\r\n]{0,500}$/.test(text) || sought.isIn(text))
    throw new Refused(502, 'upstream_answer_refused', 'The server opened a WebSocket in a way that was not asked for.');
  return `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n${text}\r\n`;
}

interface Ends {
  readonly guest: Duplex;
  readonly server: Duplex;
  readonly sought: Sought;
}

async function relayed(way: HostWay, request: HostRequest, ends: Ends, outer: AbortSignal): Promise<SocketEnd> {
  const { row } = request;
  const { guest, server, sought } = ends;
  const changed = new AbortController();
  const signal = AbortSignal.any([outer, changed.signal]);
  const look = async (): Promise<void> => {
    const now = await way.directory.usableOne(row.agentId, row.name);
    if (now?.revision !== row.revision) changed.abort();
  };
  const timer = setInterval(() => void look().catch(() => undefined), lookEveryMs);
  const placeholders = searchOf(way, request);
  const counts = { up: 0, down: 0 };
  const upwards = pumped(way, row, { from: guest, to: server, isMasked: true, signal }, async (payload) => {
    counts.up += payload.length;
    if (await placeholders.push(payload, signal)) throw new Cut('the placeholder of a secret is in a message');
  });
  const all = new EchoSearch(sought);
  const downwards = pumped(way, row, { from: server, to: guest, isMasked: false, signal }, async (payload) => {
    counts.down += payload.length;
    await way.budget.pace(row, 2 * payload.length * sought.weight, signal);
    const one = new EchoSearch(sought);
    if ((await one.pushInSteps(row.agentId, payload)) || one.end() || (await all.pushInSteps(row.agentId, payload))) {
      await way.echoed(row);
      throw new Cut("a message held the connection's credential");
    }
  });
  upwards.catch(() => undefined);
  downwards.catch(() => undefined);
  try {
    await Promise.race([upwards, downwards]);
    // The other side says goodbye, or has nothing more to say.
    const both = Promise.all([upwards, downwards]);
    await Promise.race([both, sleep(goodbyeMs, undefined, { signal, ref: false })]);
    return { ...counts, cut: null };
  } catch (error) {
    if (changed.signal.aborted) return { ...counts, cut: 'the connection was changed or removed' };
    return { ...counts, cut: error instanceof Cut ? error.message : null };
  } finally {
    clearInterval(timer);
    guest.destroy();
  }
}

interface Direction {
  readonly from: Duplex;
  readonly to: Duplex;
  readonly isMasked: boolean;
  readonly signal: AbortSignal;
}

/** Passes whole frames, once `look` has seen their payload. Resolves when the side that sends them ends. */
async function pumped(
  way: HostWay,
  row: HostRequest['row'],
  { from, to, isMasked, signal }: Direction,
  look: (payload: Buffer) => Promise<void>,
): Promise<void> {
  const frames = new Frames(isMasked);
  const held = way.budget.held.heldBy(row);
  const [waiting, payloads]: [Buffer[], Buffer[]] = [[], []];
  let [bytes, waitingBytes] = [0, 0];
  const end = (): void => void from.destroy();
  signal.addEventListener('abort', end);
  try {
    for await (const chunk of from as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > way.bounds.responseBytes) throw new Cut('it has passed more bytes than it may');
      const taken = frames.push(chunk);
      if (taken === null) throw new Cut('a frame is not as it was agreed');
      if (waitingBytes + chunk.length > frameBytes || !held.take(chunk.length)) throw new Cut('a message is too long');
      waiting.push(chunk);
      payloads.push(taken.payload);
      waitingBytes += chunk.length;
      if (taken.whole === 0) continue;
      await look(Buffer.concat(payloads.splice(0)));
      const all = Buffer.concat(waiting.splice(0));
      const rest = chunk.subarray(taken.whole);
      if (rest.length > 0) waiting.push(rest);
      if (!to.write(all.subarray(0, all.length - rest.length))) await once(to, 'drain', { signal });
      held.giveBack(all.length - rest.length);
      waitingBytes = rest.length;
    }
    signal.throwIfAborted();
    to.end();
  } finally {
    signal.removeEventListener('abort', end);
    held.giveBack();
  }
}
