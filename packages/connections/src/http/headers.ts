/** What of headers passes between a guest and a server. */
import type { IncomingHttpHeaders } from 'node:http';
import { maskedText } from '../secret/masker.ts';
import type { Needles } from '../secret/masker.ts';

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

/** What a guest sends, without what is not its own to say, and with what the connection sets. Names are lower case. */
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
      // Servers that hand headers on in variables take `_` for `-`.
      !Object.hasOwn(credentials, name.replaceAll('_', '-')),
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

/** What a server answers, masked, without what is of its connection with the host. */
export function responseHeaders(server: IncomingHttpHeaders, needles: Needles): Record<string, string | string[]> {
  const named = listed(server.connection);
  const passing = Object.entries(server).filter(
    ([name, value]) =>
      value !== undefined && !notToGuests.has(name) && !named.has(name) && maskedText(needles, name) === name,
  ) as [string, string | string[]][];
  const masked = (value: string): string => maskedText(needles, value);
  return Object.fromEntries(
    passing.map(([name, value]) => [name, typeof value === 'string' ? masked(value) : value.map(masked)]),
  );
}

/** Names that the `connection` header says are of this connection. */
const listed = (connection: string | string[] | undefined): ReadonlySet<string> =>
  new Set([connection ?? []].flat().flatMap((value) => value.split(',').map((name) => name.trim().toLowerCase())));

/** Whether the bytes of the answer are its text. */
export const isUnpacked = (encoding: string | string[] | undefined): boolean =>
  encoding === undefined ||
  [encoding].flat().every((each) => each.trim().toLowerCase() === 'identity' || each.trim() === '');
