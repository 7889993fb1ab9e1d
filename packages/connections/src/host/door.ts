/**
 * Hosts of connections under their own names. A machine's name for such a host leads to this Lodge, which ends TLS here with a
 * certificate of its authority and sends the request on. The guest is hostile: it chooses name, host, path, headers and
 * body, and each of them is checked against the agent's present connections with each request.
 *
 *   name (SNI)   one of the agent's hosts, or there is no handshake
 *   host         the name of the handshake
 *   method, path as `allow` says, in the one plain way
 *   headers      placeholders are filled in where their secret says; anywhere else they are refused
 *   query, body  without a placeholder; a body is searched while it passes
 *
 * Answers pass as those of other connections: searched for the secrets, bounded, logged.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { TokenBuckets, isAllowed, isCanonicalPath, isPlainQuery, policyFor, requestAct } from '@lodge/domain';
import type { ConnectionDirectory, ConnectionRow, GuardedCaller } from '@lodge/ports';
import type { OutboundRequest, OutboundResponse } from '@lodge/egress';
import type { HostBounds } from '../bounds.ts';
import type { CallLog } from '../call-log.ts';
import { deniedByRule } from '../http/confirmed.ts';
import { Deadline } from '../http/deadline.ts';
import { sent } from '../http/forward.ts';
import { requestHeaders } from '../http/headers.ts';
import { pass } from '../http/pass.ts';
import type { Passed } from '../http/pass.ts';
import { Refused, sendRefusal } from '../http/refused.ts';
import { isRedirect } from '../http/target.ts';
import type { Way } from '../http/way.ts';
import type { CredentialBook } from '../secret/credentials.ts';
import { Sought } from '../secret/echo-search.ts';
import { BodySearch } from './body-search.ts';
import type { HostCertificates } from './certificates.ts';
import { filledHeaders, misplaced } from './fill.ts';

/** A door for connections that begin with TLS. */
export interface SecureDoor {
  /** Ends TLS. Resolves with the plain side; rejects, with the socket destroyed, when the handshake fails or takes too long. */
  secure(guest: { readonly agentId: string }, socket: Socket): Promise<TLSSocket>;
  /** Answers a request that came over such a socket. */
  handle(guest: GuardedCaller, req: IncomingMessage, res: ServerResponse, signal: AbortSignal): Promise<void>;
}

export interface HostDoorDeps extends Way {
  readonly directory: ConnectionDirectory;
  readonly credentials: CredentialBook;
  readonly calls: CallLog;
  readonly certificates: HostCertificates;
  readonly hostBounds: HostBounds;
}

export function createHostDoor(deps: HostDoorDeps): SecureDoor {
  const perSecond = deps.hostBounds.callsPerMinute / 60;
  const rate = new TokenBuckets({ perSecond, burst: deps.hostBounds.callsPerMinute / 2 }, 100_000);
  const way: Way = { ...deps, bounds: { ...deps.bounds, ...deps.hostBounds } };
  return {
    secure: (guest, socket) => secure(deps, guest, socket),
    async handle(guest, req, res, signal) {
      try {
        await call({ deps, way, rate }, { guest, agentId: guest.agentId, req, res, signal });
      } catch (error) {
        // The guest has left, or its request broke off.
        if (signal.aborted || req.errored || (req.destroyed && !req.complete)) res.destroy();
        else if (error instanceof Refused && !res.headersSent) sendRefusal(res, error);
        else throw error;
      }
    },
  };
}

const hostRows = async (directory: ConnectionDirectory, agentId: string): Promise<readonly ConnectionRow[]> =>
  (await directory.usable(agentId)).filter(({ kind }) => kind === 'host');

async function secure(
  { directory, certificates, hostBounds }: HostDoorDeps,
  { agentId }: { readonly agentId: string },
  socket: Socket,
): Promise<TLSSocket> {
  const ended = Promise.withResolvers<never>();
  const end = (): void => ended.reject(new Error('the handshake did not come to its end'));
  ended.promise.catch(() => undefined);
  const timer = setTimeout(end, hostBounds.handshakeMs);
  socket.once('close', end);
  socket.on('error', end);
  try {
    const hosts = new Set(
      (await Promise.race([hostRows(directory, agentId), ended.promise])).flatMap((row) => row.hosts),
    );
    const plain = new TLSSocket(socket, {
      isServer: true,
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['http/1.1'],
      SNICallback(name, done) {
        if (!hosts.has(name)) return done(new Error('no host of this agent'));
        certificates.of(name).then((made) => done(null, made), done);
      },
    });
    plain.on('error', end);
    await Promise.race([new Promise((resolve) => plain.once('secure', resolve)), ended.promise]);
    // Without a name there was no certificate either.
    if (!hosts.has(nameOf(plain))) throw new Error('a handshake without a name');
    return plain;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

const nameOf = (socket: TLSSocket): string => (socket as { readonly servername?: string | false }).servername || '';

interface Parts {
  readonly deps: HostDoorDeps;
  readonly way: Way;
  readonly rate: TokenBuckets;
}

interface Asked {
  readonly guest: GuardedCaller;
  readonly agentId: string;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly signal: AbortSignal;
}

async function call({ deps, way, rate }: Parts, asked: Asked): Promise<void> {
  const { agentId, req } = asked;
  const rows = await hostRows(deps.directory, agentId);
  const host = nameOf(req.socket as TLSSocket);
  const row = rows.find(({ hosts }) => hosts.includes(host));
  if (row === undefined) throw new Refused(403, 'connection_not_found', 'This agent has no such host any more.');
  const began = performance.now();
  const { path, query } = targetOf(req.url ?? '');
  const shown = `Connection ${row.name}: ${req.method} ${host}`;
  try {
    checkAsked(row, host, req, { path, query });
    // A request passes as it comes, so there is nothing to show to an owner who is to be asked.
    if (policyFor(asked.guest.confirmations, requestAct(row.name, req.method ?? '', path)) !== 'allow')
      throw deniedByRule();
    if (!rate.allows(`${agentId}/${row.name}`, began))
      throw new Refused(429, 'rate_limit_exceeded', 'Too many calls of this connection. Try again shortly.', 1);
    const { status, bytes, cut } = await forward(way, deps.credentials, { ...asked, rows, row, host, path, query });
    const end = cut === null ? '' : ` The answer was cut: ${cut}.`;
    const sentence = `${shown}${path} was answered with ${status}, ${bytes} bytes, ${Math.round(performance.now() - began)} ms.${end}`;
    deps.calls.write(agentId, cut === null ? 'info' : 'warn', sentence);
  } catch (error) {
    if (error instanceof Refused) {
      const where = error.code === 'path_not_canonical' || error.code === 'placeholder_misplaced' ? '' : path;
      deps.calls.write(agentId, 'warn', `${shown}${where.slice(0, 500)} was refused. ${error.message}`);
    }
    throw error;
  }
}

interface PlainTarget {
  readonly path: string;
  /** With its `?`; empty without one. */
  readonly query: string;
}

function targetOf(url: string): PlainTarget {
  const mark = url.indexOf('?');
  return mark < 0 ? { path: url, query: '' } : { path: url.slice(0, mark), query: url.slice(mark) };
}

function checkAsked(row: ConnectionRow, host: string, req: IncomingMessage, { path, query }: PlainTarget): void {
  const hosts = req.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
  const given = req.headers.host?.toLowerCase();
  if (hosts.length !== 1 || (given !== host && given !== `${host}:443`))
    throw new Refused(421, 'host_mismatch', 'The header Host must be the name of the TLS handshake.');
  if (!isCanonicalPath(path)) {
    const rule = 'no dot segments, no empty ones, no needless percent-encoding.';
    throw new Refused(400, 'path_not_canonical', `The path must be written in the one plain way: ${rule}`);
  }
  if (!isPlainQuery(query.slice(1)))
    throw new Refused(400, 'query_not_plain', 'The query must be percent-encoded ASCII of bounded length.');
  if (!isAllowed(row.allow, req.method ?? '', path)) {
    const message = 'The owner of this connection has not allowed this method and path.';
    throw new Refused(403, 'connection_not_allowed', message);
  }
}

interface Forwarded extends Asked, PlainTarget {
  /** All host connections of the agent. */
  readonly rows: readonly ConnectionRow[];
  readonly row: ConnectionRow;
  readonly host: string;
}

async function forward(way: Way, book: CredentialBook, asked: Forwarded): Promise<Passed> {
  const { req, res, rows, row, host, path, query, signal } = asked;
  const { secrets, sought } = book.ofHosts(row);
  const all = rows.flatMap((each) => each.secrets.map(({ placeholder }) => placeholder));
  const placeholders = new Sought(all);
  if (placeholders.isIn(`${path}\n${query}`)) throw misplaced('the address');
  const headers = requestHeaders(req.headers, filledHeaders(req.headers, secrets, placeholders));
  const url = `https://${host}${path}${query}`;
  if (new URL(url).href !== url && `${new URL(url).href}?` !== url)
    throw new Refused(400, 'path_not_canonical', 'The path or the query is not written plainly.');
  const search = new BodySearch(all, placeholders, row, way.budget);
  const body = bodyOf(way.bounds as Way['bounds'] & HostBounds, asked, search);
  const deadline = new Deadline(way.bounds.totalMs, signal);
  try {
    deadline.within(way.bounds.headMs);
    const request: OutboundRequest = {
      method: req.method as OutboundRequest['method'],
      url,
      headers: { ...headers, ...body?.headers },
      ...(body && { body: body.stream }),
      signal: deadline.signal,
    };
    const answer = await sent(way, row, request).catch((error: unknown) => {
      throw body?.refused() ?? error;
    });
    const credentials = { headers: {}, sought };
    return await pass(
      way,
      { row, credentials, method: req.method as OutboundRequest['method'], res },
      answer,
      deadline,
      locationOf(row, req.method ?? '', url, answer),
    );
  } finally {
    deadline.end();
    body?.stream.destroy();
  }
}

interface Body {
  readonly stream: Readable;
  readonly headers: Readonly<Record<string, string>>;
  /** Why the body was refused while it passed; null when it was not. */
  refused(): Refused | null;
}

/** Git's own service for pushes, whose bodies are packs. */
const isPush = (req: IncomingMessage, path: string): boolean =>
  req.method === 'POST' &&
  path.endsWith('/git-receive-pack') &&
  req.headers['content-type'] === 'application/x-git-receive-pack-request';

/** The guest's body, searched while it passes. Null for a request without one. */
function bodyOf(bounds: HostBounds, { req, path, signal }: Forwarded, search: BodySearch): Body | null {
  const length = req.headers['content-length'];
  if (req.headers['transfer-encoding'] === undefined && Number(length ?? 0) === 0) {
    return req.method === 'GET' || req.method === 'HEAD' || length === undefined ? null : empty;
  }
  if (req.method === 'GET' || req.method === 'HEAD')
    throw new Refused(400, 'invalid_request', `A ${req.method} has no body here.`);
  const most = isPush(req, path) ? bounds.pushBytes : bounds.requestBytes;
  const tooLarge = new Refused(413, 'request_too_large', `A request may have at most ${most} bytes.`);
  if (Number(length ?? 0) > most) throw tooLarge;
  let refused: Refused | null = null;
  const refuse = (why: Refused): Refused => (refused = why);
  async function* searched(): AsyncGenerator<Buffer> {
    let bytes = 0;
    // A refusal must still be sent on the same socket.
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > most) throw refuse(tooLarge);
      if (await search.push(chunk, signal)) throw refuse(misplaced('the body'));
      yield chunk;
    }
    if (search.end()) throw refuse(misplaced('the body'));
  }
  const stream = Readable.from(searched(), { objectMode: false });
  stream.on('error', () => undefined);
  return { stream, headers: length === undefined ? {} : { 'content-length': length }, refused: () => refused };
}

const empty: Body = {
  get stream() {
    return Readable.from([], { objectMode: false });
  },
  headers: { 'content-length': '0' },
  refused: () => null,
};

/** The header `location` where it leads to a host and a path of the same connection. Throws for any other redirect. */
function locationOf(
  row: ConnectionRow,
  method: string,
  from: string,
  { statusCode, headers, body }: OutboundResponse,
): Readonly<Record<string, string>> {
  const location = [headers.location ?? ''].flat()[0]!;
  const url = location.length <= 8_192 && URL.canParse(location, from) ? new URL(location, from) : null;
  const becomesGet = statusCode === 303 || (method === 'POST' && (statusCode === 301 || statusCode === 302));
  const isWithin =
    location !== '' &&
    url !== null &&
    url.protocol === 'https:' &&
    row.hosts.includes(url.host) &&
    url.username === '' &&
    url.password === '' &&
    isCanonicalPath(url.pathname) &&
    isPlainQuery(url.search.slice(1)) &&
    isAllowed(row.allow, becomesGet ? 'GET' : method, url.pathname);
  if (isWithin) return { location: url.href };
  if (!isRedirect(statusCode)) return {};
  body.on('error', () => undefined).destroy();
  const message = 'The server redirects to where this connection may not go. It is not followed.';
  throw new Refused(502, 'redirect_refused', message);
}
