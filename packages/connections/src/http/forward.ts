/** One request of a guest to a connection's server, and its answer: bounded in bytes and time, and masked on its way. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { once } from 'node:events';
import { PrivateAddressError } from '@lodge/egress';
import type { Outbound, OutboundRequest, OutboundResponse } from '@lodge/egress';
import type { ConnectionRow } from '@lodge/ports';
import type { CallBounds } from '../bounds.ts';
import type { Credentials } from '../secret/credentials.ts';
import { Masker } from '../secret/masker.ts';
import { isUnpacked, requestHeaders, responseHeaders } from './headers.ts';
import { Refused } from './refused.ts';
import { addressOf, isRedirect, redirectTarget } from './target.ts';
import type { Target } from './target.ts';

export interface Forwarding {
  readonly row: ConnectionRow;
  readonly target: Target;
  readonly credentials: Credentials;
  readonly body: Buffer | null;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** The guest has left, or the host ends. */
  readonly signal: AbortSignal;
}

export interface Way {
  readonly outbound: Outbound;
  readonly privateAddresses: boolean;
  readonly bounds: CallBounds;
}

export interface Passed {
  readonly status: number;
  readonly bytes: number;
  /** Why the answer was cut; null: it is whole. */
  readonly cut: string | null;
}

/** Rejects with a `Refused` as long as nothing was answered. */
export async function forward(way: Way, forwarding: Forwarding): Promise<Passed> {
  const { bounds } = way;
  const deadline = new Deadline(bounds.totalMs, forwarding.signal);
  try {
    deadline.within(bounds.headMs);
    const answer = await answerOf(way, forwarding, deadline.signal);
    return await pass(bounds, forwarding, answer, deadline);
  } finally {
    deadline.end();
  }
}

async function answerOf(way: Way, { row, target, credentials, body, req }: Forwarding, signal: AbortSignal) {
  const method = req.method as OutboundRequest['method'];
  const headers = requestHeaders(req.headers, credentials.headers);
  let to = target;
  for (let followed = 0; ; followed += 1) {
    const url = addressOf(row, to.path, to.query);
    const answer = await sent(way, { method, url, headers, ...(body && { body }), signal });
    if (!isRedirect(answer.statusCode)) return answer;
    answer.body.on('error', () => undefined).destroy();
    const location = [answer.headers.location ?? ''].flat()[0]!;
    const next = redirectTarget(row, method, url, location);
    const mayFollow = method === 'GET' || method === 'HEAD';
    if (next === null || !mayFollow || followed >= way.bounds.redirects) throw redirected(next !== null && mayFollow);
    to = next;
  }
}

const redirected = (tooOften: boolean): Refused =>
  new Refused(
    502,
    'redirect_refused',
    tooOften
      ? 'The server redirects too often.'
      : 'The server redirects to where this connection may not go, or what is no GET. It is not followed.',
  );

async function sent({ outbound, privateAddresses }: Way, request: OutboundRequest): Promise<OutboundResponse> {
  try {
    if (!privateAddresses && !request.url.startsWith('https:')) throw new PrivateAddressError();
    return await outbound.send({ privateAddresses }, request);
  } catch (error) {
    if (error instanceof PrivateAddressError) {
      throw new Refused(502, 'address_refused', 'The connection leads to an address that is not public.');
    }
    if (request.signal.aborted) throw new Refused(504, 'upstream_timeout', 'The server did not answer in time.');
    throw new Refused(502, 'upstream_unreachable', 'The server could not be reached, or broke off.');
  }
}

async function pass(
  bounds: CallBounds,
  { credentials, req, res }: Forwarding,
  answer: OutboundResponse,
  deadline: Deadline,
): Promise<Passed> {
  const { statusCode: status, headers, body } = answer;
  body.on('error', () => undefined);
  if (status < 200 || status > 599 || !isUnpacked(headers['content-encoding'])) {
    body.destroy();
    const message = 'The answer is packed in a way that was not asked for, or has no known status.';
    throw new Refused(502, 'upstream_answer_refused', message);
  }
  writeHead(res, answer, credentials);
  const masker = new Masker(credentials.needles);
  const most = bounds.responseBytes;
  let bytes = 0;
  try {
    deadline.within(bounds.idleMs);
    if (req.method !== 'HEAD') {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > most) return cut(answer, res, { status, bytes, cut: `it has more than ${most} bytes` });
        await write(res, masker.push(chunk), deadline.signal);
        deadline.within(bounds.idleMs);
      }
      await write(res, masker.end(), deadline.signal);
    }
    res.end();
    return { status, bytes, cut: null };
  } catch {
    return cut(answer, res, { status, bytes, cut: deadline.signal.aborted ? deadline.why : 'the server broke off' });
  } finally {
    body.destroy();
  }
}

function writeHead(
  res: ServerResponse,
  { statusCode, headers, body }: OutboundResponse,
  { needles }: Credentials,
): void {
  try {
    res.writeHead(statusCode, responseHeaders(headers, needles));
  } catch {
    body.destroy();
    throw new Refused(502, 'upstream_answer_refused', 'The answer has headers that cannot be passed on.');
  }
}

/** The guest sees an answer that breaks off, not one that seems whole. */
function cut({ body }: OutboundResponse, res: ServerResponse, passed: Passed): Passed {
  body.destroy();
  res.destroy();
  return passed;
}

async function write(res: ServerResponse, bytes: Buffer, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (bytes.length > 0 && !res.write(bytes)) await once(res, 'drain', { signal });
}

/** Aborts when time is up, altogether or since something last happened. */
class Deadline {
  readonly signal: AbortSignal;
  readonly #own = new AbortController();
  readonly #outer: AbortSignal;
  readonly #total: NodeJS.Timeout;
  #step: NodeJS.Timeout | undefined;

  constructor(totalMs: number, outer: AbortSignal) {
    this.#outer = outer;
    this.signal = AbortSignal.any([outer, this.#own.signal]);
    this.#total = setTimeout(() => this.#own.abort(), totalMs);
  }

  get why(): string {
    return this.#outer.aborted ? 'nobody waits for it any more' : 'it takes too long';
  }

  within(ms: number): void {
    clearTimeout(this.#step);
    this.#step = setTimeout(() => this.#own.abort(), ms);
  }

  end(): void {
    clearTimeout(this.#step);
    clearTimeout(this.#total);
  }
}
