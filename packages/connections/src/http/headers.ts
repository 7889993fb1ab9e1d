/** What of headers passes between a guest and a server. */
import type { IncomingHttpHeaders } from 'node:http';

/** Of the connection between two machines (RFC 9110, 7.6.1). */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
];

const notFromGuests = new Set([
  ...hopByHop,
  'host',
  'authorization',
  'cookie',
  'cookie2',
  'content-length',
  'expect',
  // An answer in pieces, or packed, could not be looked through.
  'accept-encoding',
  'range',
  'if-range',
  // Some servers take another method, path or client from these than was checked.
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-url',
  'x-original-uri',
  'x-original-host',
  'x-original-method',
  'x-rewrite-url',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'forwarded',
  'via',
]);

/**
 * What a guest sends, without what is not its own to say, and with what the connection sets. Names are lower case. Servers that
 * hand headers on in variables take `_` for `-`, so a name with one says two things: it is left out, as nginx does.
 */
export function requestHeaders(
  guest: IncomingHttpHeaders,
  credentials: Readonly<Record<string, string>>,
): Record<string, string | string[]> {
  const named = listed(guest.connection);
  const passing = Object.entries(guest).filter(
    ([name, value]) =>
      value !== undefined &&
      !notFromGuests.has(name) &&
      !named.has(name) &&
      !name.startsWith('x-forwarded-') &&
      !name.startsWith('proxy-') &&
      !name.includes('_') &&
      !Object.hasOwn(credentials, name),
  ) as [string, string | string[]][];
  return { ...Object.fromEntries(passing), ...credentials, 'accept-encoding': 'identity' };
}

const notToGuests = new Set([
  ...hopByHop,
  'set-cookie',
  'set-cookie2',
  'alt-svc',
  'location',
  'refresh',
  'content-location',
  'strict-transport-security',
  'clear-site-data',
  'public-key-pins',
]);

/** What a server answers, without what is of its connection with the host. */
export function responseHeaders(server: IncomingHttpHeaders): Record<string, string | string[]> {
  const named = listed(server.connection);
  const passing = Object.entries(server).filter(
    ([name, value]) => value !== undefined && !notToGuests.has(name) && !named.has(name),
  ) as [string, string | string[]][];
  return Object.fromEntries(passing);
}

const lineTypes =
  /^(?:text\/event-stream|application\/(?:x-ndjson|ndjson|jsonl|x-jsonlines|stream\+json|json-seq))(?:;|\s|$)/i;

/** Whether the answer is of lines that are each of use when it comes. */
export const comesInLines = (type: string | string[] | undefined): boolean => lineTypes.test([type ?? ''].flat()[0]!);

/** Names that the `connection` header says are of this connection. */
const listed = (connection: string | string[] | undefined): ReadonlySet<string> =>
  new Set([connection ?? []].flat().flatMap((value) => value.split(',').map((name) => name.trim().toLowerCase())));

/** Whether the bytes of the answer are its text. */
export const isUnpacked = (encoding: string | string[] | undefined): boolean =>
  encoding === undefined ||
  [encoding].flat().every((each) => each.trim().toLowerCase() === 'identity' || each.trim() === '');
