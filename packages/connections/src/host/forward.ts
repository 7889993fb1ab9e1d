/** Sends one request to a host under its own name, and its answer back, with the secrets in the place of their placeholders. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { isAllowed, isCanonicalPath, isPlainQuery } from '@lodge/domain';
import type { ConnectionDirectory, ConnectionRow } from '@lodge/ports';
import type { OutboundRequest, OutboundResponse } from '@lodge/egress';
import type { HostBounds } from '../bounds.ts';
import { Deadline } from '../http/deadline.ts';
import { authorized, sent } from '../http/forward.ts';
import { requestHeaders } from '../http/headers.ts';
import { pass } from '../http/pass.ts';
import type { Passed } from '../http/pass.ts';
import { Refused } from '../http/refused.ts';
import { isRedirect } from '../http/target.ts';
import type { AnswerSink, Way } from '../http/way.ts';
import { Access } from '../oauth/access.ts';
import type { LoginDeps } from '../oauth/login.ts';
import type { CredentialBook } from '../secret/credentials.ts';
import { Sought } from '../secret/echo-search.ts';
import { filledHeaders, misplaced } from './fill.ts';

/** The way to hosts, with the bounds on their calls. */
export interface HostWay extends Way {
  readonly bounds: Way['bounds'] & HostBounds;
  readonly directory: ConnectionDirectory;
  readonly credentials: CredentialBook;
  readonly logins: LoginDeps;
}

/** A request as its program made it. */
export interface HostRequest {
  /** All host connections of the agent. */
  readonly rows: readonly ConnectionRow[];
  readonly row: ConnectionRow;
  readonly host: string;
  readonly method: string;
  readonly path: string;
  /** With its `?`; empty without one. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
}

/** A body that comes while it is sent. */
export interface PassingBody {
  readonly stream: Readable;
  readonly headers: Readonly<Record<string, string>>;
  /** Why the body was refused while it passed; null when it was not. */
  refused(): Refused | null;
}

export interface Forwarded extends HostRequest {
  /** A whole body may be sent twice, a passing one not. */
  readonly body: Buffer | PassingBody | null;
  readonly res: AnswerSink;
  readonly signal: AbortSignal;
  /** Called just before the request is sent. */
  readonly begins?: () => void;
}

export const hostRows = async (directory: ConnectionDirectory, agentId: string): Promise<readonly ConnectionRow[]> =>
  (await directory.usable(agentId)).filter(({ kind }) => kind === 'host');

export const placeholdersOf = (rows: readonly ConnectionRow[]): readonly string[] =>
  rows.flatMap((row) => row.secrets.map(({ placeholder }) => placeholder));

/** Returns the headers with their secrets. Throws a `Refused` where a placeholder is where none is filled in. */
export function filled(
  book: CredentialBook,
  { rows, row, path, query, headers }: HostRequest,
): Readonly<Record<string, string>> {
  const placeholders = new Sought(placeholdersOf(rows));
  if (placeholders.isIn(`${path}\n${query}`)) throw misplaced('the address');
  return filledHeaders(headers, book.ofHosts(row), placeholders);
}

/** Rejects with a `Refused` while nothing was answered. */
export async function forwardToHost(way: HostWay, forwarded: Forwarded): Promise<Passed> {
  const { row, host, path, query, method, body, res, signal } = forwarded;
  const own = filled(way.credentials, forwarded);
  const url = `https://${host}${path}${query}`;
  if (new URL(url).href !== url && `${new URL(url).href}?` !== url)
    throw new Refused(400, 'path_not_canonical', 'The path or the query is not written plainly.');
  const passing = body !== null && !Buffer.isBuffer(body) ? body : null;
  const access = new Access(way.logins, row);
  const first = await access.credentials();
  const deadline = new Deadline(way.bounds.totalMs, signal);
  try {
    deadline.within(way.bounds.headMs);
    const send = (credentials: typeof first): Promise<OutboundResponse> => {
      const headers = requestHeaders(forwarded.headers, { ...own, ...credentials.headers });
      const request: OutboundRequest = {
        method,
        url,
        headers: { ...headers, ...passing?.headers },
        ...(body && { body: passing?.stream ?? (body as Buffer) }),
        signal: deadline.signal,
      };
      return sent(way, row, request).catch((error: unknown) => {
        throw passing?.refused() ?? error;
      });
    };
    forwarded.begins?.();
    const [credentials, answer] = await authorized(access, first, send, passing === null);
    const kept = locationOf(row, method, url, answer);
    return await pass(way, { row, credentials, method, res }, answer, deadline, kept);
  } finally {
    deadline.end();
    passing?.stream.destroy();
  }
}

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
