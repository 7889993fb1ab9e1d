/** Selects the headers that pass between a client and a web server in a guest. */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { cookiesForClient, cookiesForGuest } from './cookies.ts';

type Distinct = Readonly<Record<string, readonly string[] | undefined>>;

/** Headers of one connection, not of the message (RFC 9110, 7.6.1); the framing of a body is decided anew. */
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
  'expect',
];
/** Lodge itself says who the client is. */
const ofProxies = /^(?:forwarded|x-real-ip|x-forwarded-.*)$/;
/** From a guest these would affect more than its own host: other ports, or cookies of the whole domain. */
const beyondHost = ['alt-svc', 'clear-site-data'];

export interface Passing {
  /** The host's own headers for this web server, by lower-case names: they win. Cookies among them stand beside the client's. */
  readonly added: Readonly<Record<string, string>>;
  /** Names of headers for Lodge itself. */
  readonly withheld: readonly string[];
  readonly address: string;
  readonly scheme: 'http' | 'https';
}

export function headersForGuest(request: IncomingMessage, passing: Passing): OutgoingHttpHeaders {
  const given = request.headersDistinct;
  const { added, withheld, address, scheme } = passing;
  const headers = endToEnd(given, (name) => withheld.includes(name) || ofProxies.test(name));
  Object.assign(headers, framing(request));
  headers['x-forwarded-for'] = address;
  headers['x-forwarded-proto'] = scheme;
  headers['x-forwarded-host'] = request.headers.host;
  Object.assign(headers, added);
  const offers = offersForGuest([headers['sec-websocket-protocol'] ?? []].flat().join(', '));
  if (offers === null) delete headers['sec-websocket-protocol'];
  else headers['sec-websocket-protocol'] = offers;
  const cookie = cookiesForGuest(given['cookie']?.join('; '), added['cookie']);
  if (cookie === undefined) delete headers['cookie'];
  else headers['cookie'] = cookie;
  return headers;
}

export function headersForClient(reply: IncomingMessage, { added }: Passing): OutgoingHttpHeaders {
  const given = reply.headersDistinct;
  const headers = endToEnd(given, (name) => beyondHost.includes(name));
  if (given['set-cookie']) headers['set-cookie'] = cookiesForClient(given['set-cookie'], added['cookie']);
  return headers;
}

/** Headers that a handshake adds, on either side. */
export const upgraded = { connection: 'Upgrade', upgrade: 'websocket' };

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Whatever `Connection` names, a body has an end: without one its rest would be read as another request. */
function framing({ headers }: IncomingMessage): OutgoingHttpHeaders {
  if (headers['transfer-encoding'] !== undefined) return { 'transfer-encoding': 'chunked' };
  return headers['content-length'] === undefined ? {} : { 'content-length': headers['content-length'] };
}

function endToEnd(given: Distinct, isLeftOut: (name: string) => boolean): OutgoingHttpHeaders {
  const named = (given['connection'] ?? []).flatMap((value) =>
    value
      .toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  );
  const passes = (name: string): boolean => !hopByHop.includes(name) && !named.includes(name) && !isLeftOut(name);
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, values = []]) =>
      passes(name) ? [[name, values.length === 1 ? values[0] : [...values]]] : [],
    ),
  );
}

/**
 * The form of Lodge's keys, which no guest sees wherever a client has put them. A guest's own servers may accept others in
 * the same headers.
 */
export const ourKey = /lodge_live_/;

/**
 * The subprotocols that a client offers a guest. The API accepts a key as the subprotocol `bearer.<key>`, so a client may
 * send one here by mistake; it is removed. Null if none is left to offer.
 */
export function offersForGuest(header: string): string | null {
  const offers = header.split(',').map((offer) => offer.trim());
  const kept = offers.filter((offer) => offer !== '' && !ourKey.test(offer));
  return kept.length > 0 ? kept.join(', ') : null;
}
