/** Connections: other people's services that an agent uses, with credentials that stay on the host. */
import { Refusal } from '../refusal.ts';
import { isCanonicalPath, isPathPattern, matchesPattern } from './paths.ts';

export const connectionKinds = ['mcp', 'http'] as const;
/**
 * The kind of a connection.
 *
 * - `mcp`: a server of the Model Context Protocol over streamable HTTP. The agent gets its tools.
 * - `http`: any HTTP service. The agent sends the requests that `allow` permits.
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

/** Headers of the transport between two machines, or headers that decide where a request goes. */
const ownHeaders = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie2',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'last-event-id',
  'proxy-authenticate',
  'proxy-connection',
  'range',
  'if-range',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Whether an owner may set the header, whose name is lower case. */
export const mayBeSet = (name: string): boolean => !ownHeaders.has(name) && !name.startsWith('mcp-');

/** Headers whose values are no secrets, because answers may contain the same words. */
const openHeaders = new Set(['accept', 'accept-language', 'user-agent']);
/** Ends of header names whose values are a place or an owner. Answers name organizations and projects by the same words. */
const openNames = /(?:^|-)(?:version|organi[sz]ation|org|project|tenant|workspace|account|team|region)(?:-id|-name)?$/;

/** Whether an answer that contains the value of this header (named in lower case) is kept from the guest. */
export const isCredentialHeader = (name: string): boolean => !openHeaders.has(name) && !openNames.test(name);

/** Whether one entry allows the method and the canonical path. */
export const isAllowed = (allow: readonly ConnectionAllow[], method: string, path: string): boolean =>
  allow.some(
    ({ methods, paths }) =>
      methods.some((each) => each === method) && paths.some((pattern) => matchesPattern(pattern, path)),
  );

export interface ConnectionTerms {
  readonly kind: ConnectionKind;
  readonly url: string;
  readonly allow: readonly ConnectionAllow[] | undefined;
  /** Null allows all tools of the server. */
  readonly tools: readonly string[] | null | undefined;
}

/** Returns the terms with the URL in its stored form. Refuses with the field's name. `insecure` allows `http:`. */
export function checkedTerms({ kind, url, allow, tools }: ConnectionTerms, insecure: boolean) {
  const kept = checkedUrl(url, insecure);
  if (kind === 'http') {
    if (tools !== undefined && tools !== null) throw fault('tools is for kind mcp: with kind http, give allow.');
    if (allow === undefined || allow.length === 0)
      throw fault('allow is required for kind http: without it nothing may be asked.');
    return { kind, url: kept, allow: allow.map(checkedAllow), tools: null };
  }
  if (allow !== undefined && allow.length > 0) throw fault('allow is for kind http: with kind mcp, give tools.');
  return { kind, url: kept, allow: [], tools: tools ? [...new Set(tools)] : null };
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
