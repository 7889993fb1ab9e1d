import { isAllowed, isCanonicalPath, isConnectionName, isPlainQuery, withPlainScopes } from '@lodge/domain';
import type { ConnectionRow } from '@lodge/ports';
import { Refused } from './refused.ts';

/** The target of a guest's request as written. Nothing of it is decoded, except names of packages in scopes. */
export interface Target {
  readonly name: string;
  /** The path below the connection's URL. */
  readonly path: string;
  /** The query with its `?`; empty without one. */
  readonly query: string;
}

/** Reads `/connections/<name>/<path>?<query>`. Null when it names no connection. */
export function targetOf(url: string): Target | null {
  const mark = url.indexOf('?');
  const whole = mark < 0 ? url : url.slice(0, mark);
  const query = mark < 0 ? '' : url.slice(mark);
  const rest = whole.slice('/connections'.length);
  if (rest === '' || rest === '/') return null;
  const slash = rest.indexOf('/', 1);
  const name = slash < 0 ? rest.slice(1) : rest.slice(1, slash);
  return { name, path: slash < 0 ? '/' : withPlainScopes(rest.slice(slash)), query };
}

export const noConnection = (): Refused =>
  new Refused(404, 'connection_not_found', 'This agent has no connection of that name.');

export function checkName({ name }: Target): void {
  if (!isConnectionName(name)) throw noConnection();
}

/** Throws a `Refused` for a request that the connection's owner did not allow. */
export function checkAllowed(row: ConnectionRow, method: string, { path, query }: Target): void {
  if (row.kind !== 'http') {
    const message = "This connection is a server of tools: they are among the agent's own.";
    throw new Refused(403, 'connection_not_allowed', message);
  }
  checkRequest(row, method, { path, query });
}

/** The same for any kind of connection that requests are sent by. */
export function checkRequest(
  row: ConnectionRow,
  method: string,
  { path, query }: Pick<Target, 'path' | 'query'>,
): void {
  if (!isCanonicalPath(path)) {
    throw new Refused(
      400,
      'path_not_canonical',
      'The path must be written in the one plain way: no dot segments, no empty ones, no needless percent-encoding.',
    );
  }
  if (!isPlainQuery(query.slice(1))) {
    throw new Refused(400, 'query_not_plain', 'The query must be percent-encoded ASCII of bounded length.');
  }
  if (!isAllowed(row.allow, method, path)) {
    throw new Refused(
      403,
      'connection_not_allowed',
      'The owner of this connection has not allowed this method and path.',
    );
  }
}

/** Returns the address at the server. Throws when a parser would read it differently. */
export function addressOf(row: ConnectionRow, path: string, query: string): string {
  const base = new URL(row.url);
  const url = new URL(row.url + path + query);
  const basePath = base.pathname === '/' ? '' : base.pathname;
  if (url.origin !== base.origin || url.pathname !== basePath + path || url.search !== (query === '?' ? '' : query)) {
    throw new Refused(400, 'path_not_canonical', 'The path or the query is not written plainly.');
  }
  return url.href;
}

const redirects = new Set([301, 302, 303, 307, 308]);

/** Whether the status of an answer is a redirect. */
export const isRedirect = (status: number): boolean => redirects.has(status);

/** Returns the target of a redirect within the connection and its allowed paths; null when it leads elsewhere. */
export function redirectTarget(row: ConnectionRow, method: string, from: string, location: string): Target | null {
  if (!URL.canParse(location, from) || location.length > 8_192) return null;
  const url = new URL(location, from);
  if (url.username !== '' || url.password !== '') return null;
  const base = new URL(row.url);
  const basePath = base.pathname === '/' ? '' : base.pathname;
  if (url.origin !== base.origin || !url.pathname.startsWith(`${basePath}/`)) return null;
  const path = url.pathname.slice(basePath.length);
  const isFine = isCanonicalPath(path) && isPlainQuery(url.search.slice(1)) && isAllowed(row.allow, method, path);
  return isFine ? { name: row.name, path, query: url.search } : null;
}
