/** Selects the headers that pass between a guest and a server. */
import type { IncomingHttpHeaders } from 'node:http';

/** Headers of the connection between two machines (RFC 9110, 7.6.1). */
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
  // An answer in parts, or compressed, could not be searched.
  'accept-encoding',
  'range',
  'if-range',
  // Some servers take another method, path or client from these headers than the checked one.
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
 * Returns the guest's headers without those that it may not set, and with those of the connection. Names are in lower case.
 * Servers that pass headers on in variables read `_` as `-`, so a name with `_` is ambiguous and left out, as nginx does.
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

/** The headers of a guest that go to a server. */
export function guestHeaders(guest: IncomingHttpHeaders): Record<string, string | string[]> {
  const { 'accept-encoding': _, ...passing } = requestHeaders(guest, {});
  return passing;
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

/** Returns a server's headers without those of its connection with the host. */
export function responseHeaders(server: IncomingHttpHeaders): Record<string, string | string[]> {
  const named = listed(server.connection);
  const passing = Object.entries(server).filter(
    ([name, value]) => value !== undefined && !notToGuests.has(name) && !named.has(name),
  ) as [string, string | string[]][];
  return Object.fromEntries(passing);
}

const lineTypes =
  /^(?:text\/event-stream|application\/(?:x-ndjson|ndjson|jsonl|x-jsonlines|stream\+json|json-seq))(?:;|\s|$)/i;

/** Whether the answer consists of lines that are useful one by one. */
export const comesInLines = (type: string | string[] | undefined): boolean => lineTypes.test([type ?? ''].flat()[0]!);

/** Returns the names that the `connection` header assigns to this connection. */
const listed = (connection: string | string[] | undefined): ReadonlySet<string> =>
  new Set([connection ?? []].flat().flatMap((value) => value.split(',').map((name) => name.trim().toLowerCase())));

/** Whether the bytes of the answer are its text. */
export const isUnpacked = (encoding: string | string[] | undefined): boolean =>
  encoding === undefined ||
  [encoding].flat().every((each) => each.trim().toLowerCase() === 'identity' || each.trim() === '');
