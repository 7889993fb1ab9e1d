/** Connections: other people's services that an agent uses, with credentials that stay on the host. */
import { Refusal } from '../refusal.ts';
import { checkedHosts } from './hosts.ts';
import { isCanonicalPath, isPathPattern, matchesPattern } from './paths.ts';

export const connectionKinds = ['mcp', 'http', 'host'] as const;
/**
 * The kind of a connection.
 *
 * - `mcp`: a server of the Model Context Protocol over streamable HTTP. The agent gets its tools.
 * - `http`: any HTTP service. The agent sends the requests that `allow` permits.
 * - `host`: hosts that the agent's programs reach under their own names, with placeholders for secrets.
 */
export type ConnectionKind = (typeof connectionKinds)[number];

/** Allowed methods. TRACE would echo and CONNECT would tunnel, so they are left out. */
export const connectionMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
export type ConnectionMethod = (typeof connectionMethods)[number];

export interface ConnectionAllow {
  readonly methods: readonly ConnectionMethod[];
  /** Paths below the connection's URL: whole paths, or patterns that end in `/*`. */
  readonly paths: readonly string[];
}

/**
 * Whether a name has lower case letters, digits and hyphens only. It is a segment of a path, and names of tools begin with
 * it.
 */
export const isConnectionName = (name: string): boolean => /^[a-z](?:[a-z0-9-]{0,30}[a-z0-9])?$/.test(name);

/** Whether one entry allows the method and the canonical path. */
export const isAllowed = (allow: readonly ConnectionAllow[], method: string, path: string): boolean =>
  allow.some(
    ({ methods, paths }) =>
      methods.some((each) => each === method) && paths.some((pattern) => matchesPattern(pattern, path)),
  );

export interface ConnectionTerms {
  readonly kind: ConnectionKind;
  /** Undefined for `host`, which has hosts. */
  readonly url: string | undefined;
  readonly allow: readonly ConnectionAllow[] | undefined;
  /** Null allows all tools of the server. */
  readonly tools: readonly string[] | null | undefined;
  readonly hosts?: readonly string[] | undefined;
}

interface Checks {
  /** Whether `http:` is allowed. */
  readonly insecure: boolean;
  /** Whether a host is a name of this Lodge. */
  readonly isOwn?: (host: string) => boolean;
}

/** Returns the terms with URL and hosts in their stored form. Refuses with the field's name. */
export function checkedTerms({ kind, url, allow, tools, hosts }: ConnectionTerms, { insecure, isOwn }: Checks) {
  if (kind !== 'mcp' && tools !== undefined && tools !== null)
    throw fault(`tools is for kind mcp: with kind ${kind}, give allow.`);
  if (kind !== 'mcp' && (allow === undefined || allow.length === 0))
    throw fault(`allow is required for kind ${kind}: without it nothing may be asked.`);
  if (kind === 'mcp' && allow !== undefined && allow.length > 0)
    throw fault('allow is for kinds http and host: with kind mcp, give tools.');
  const common = { kind, allow: (allow ?? []).map(checkedAllow), tools: tools ? [...new Set(tools)] : null };
  if (kind === 'host') {
    if (url !== undefined) throw fault('url is for kinds mcp and http: with kind host, give hosts.');
    if (hosts === undefined || hosts.length === 0) throw fault('hosts is required for kind host.');
    const checked = checkedHosts(hosts, isOwn ?? (() => false));
    return { ...common, url: `https://${checked[0]}`, hosts: checked };
  }
  if (hosts !== undefined && hosts.length > 0) throw fault(`hosts is for kind host: with kind ${kind}, give url.`);
  if (url === undefined) throw fault(`url is required for kind ${kind}.`);
  return { ...common, url: checkedUrl(url, insecure), hosts: [] };
}

function checkedAllow({ methods, paths }: ConnectionAllow, index: number): ConnectionAllow {
  paths.forEach((path, at) => {
    if (isPathPattern(path)) return;
    throw fault(
      `allow[${index}].paths[${at}] must be a path such as /repos/me/notes, or end in /* for all below it. It must be written in the one plain way: no dot segments, no empty ones, no needless percent-encoding.`,
    );
  });
  return { methods: [...new Set(methods)], paths: [...new Set(paths)] };
}

/** Returns the URL without a slash at its end. */
function checkedUrl(given: string, insecure: boolean): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null) throw fault('url must be a URL such as https://api.example.com/v1.');
  if (url.protocol !== 'https:' && !(insecure && url.protocol === 'http:'))
    throw fault('url must begin with https://.');
  if (url.username !== '' || url.password !== '') {
    throw fault('url must not have a user or a password: give them in headers.');
  }
  if (given.includes('?')) throw fault('url must not have a query: give what is secret of it in headers.');
  if (given.includes('#')) throw fault('url must not have a fragment.');
  // The path as written, because the parser would remove dot segments.
  const path = /^[a-z]+:\/\/[^/]*(\/.*)?$/i.exec(given)?.[1] ?? '/';
  if (!isCanonicalPath(path) || url.pathname !== path) {
    throw fault('url must have a plain path: no dot segments, no empty ones, no needless percent-encoding.');
  }
  return url.origin + (path.endsWith('/') ? path.slice(0, -1) : path);
}

const fault = (message: string): Refusal => new Refusal('invalid_request', message);
