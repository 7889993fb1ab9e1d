/** Connections: services of other people that an agent uses, whose credentials stay on the host. */
import { Refusal } from '../refusal.ts';
import { isCanonicalPath, isPathPattern, matchesPattern } from './paths.ts';

export const connectionKinds = ['mcp', 'http'] as const;
/**
 * - `mcp`: a server of the Model Context Protocol over streamable HTTP; the agent has its tools.
 * - `http`: any HTTP service; the agent sends requests, as far as `allow` goes.
 */
export type ConnectionKind = (typeof connectionKinds)[number];

/** TRACE and CONNECT are none: one echoes, the other tunnels. */
export const connectionMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
export type ConnectionMethod = (typeof connectionMethods)[number];

export interface ConnectionAllow {
  readonly methods: readonly ConnectionMethod[];
  /** Below the connection's URL: whole paths, or patterns that end in `/*`. */
  readonly paths: readonly string[];
}

/** Lower case letters, digits and hyphens: it is a segment of a path, and begins the names of tools. */
export const isConnectionName = (name: string): boolean => /^[a-z](?:[a-z0-9-]{0,30}[a-z0-9])?$/.test(name);

/** Headers that belong to the connection between two machines, or that decide where a request goes. */
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

/** Headers whose values are no secrets: answers may say the same words. */
const openHeaders = new Set(['accept', 'accept-language', 'user-agent']);
/** Ends of names that say where or for whom: answers name organizations and projects by the same words. */
const openNames = /(?:^|-)(?:version|organi[sz]ation|org|project|tenant|workspace|account|team|region)(?:-id|-name)?$/;

/** Whether an answer with the value of the header, whose name is lower case, is kept from the guest. */
export const isCredentialHeader = (name: string): boolean => !openHeaders.has(name) && !openNames.test(name);

/** Whether one entry names the method and the path, which is canonical. */
export const isAllowed = (allow: readonly ConnectionAllow[], method: string, path: string): boolean =>
  allow.some(
    ({ methods, paths }) =>
      methods.some((each) => each === method) && paths.some((pattern) => matchesPattern(pattern, path)),
  );

export interface ConnectionTerms {
  readonly kind: ConnectionKind;
  readonly url: string;
  readonly allow: readonly ConnectionAllow[] | undefined;
  /** Null: all that the server has. */
  readonly tools: readonly string[] | null | undefined;
}

/** The same, with the URL as it is kept. Refuses with the field's name. `insecure`: `http:` will do. */
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

/** Without a slash at its end. */
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
  // As it was written: the parser would take dot segments out.
  const path = /^[a-z]+:\/\/[^/]*(\/.*)?$/i.exec(given)?.[1] ?? '/';
  if (!isCanonicalPath(path) || url.pathname !== path) {
    throw fault('url must have a plain path: no dot segments, no empty ones, no needless percent-encoding.');
  }
  return url.origin + (path.endsWith('/') ? path.slice(0, -1) : path);
}

const fault = (message: string): Refusal => new Refusal('invalid_request', message);
