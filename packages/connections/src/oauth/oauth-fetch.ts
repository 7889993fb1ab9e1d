/** The one way to an authorization server: a few bounded requests to checked addresses, without redirects. */
import { isIP } from 'node:net';
import { JsonBudget, oauthBounds } from '@lodge/domain';
import { PrivateAddressError, isPublicAddress } from '@lodge/egress';
import type { Outbound, OutboundRequest, OutboundResponse } from '@lodge/egress';
import { ConsentFailure } from '@lodge/ports';
import type { OAuthBounds } from '../bounds.ts';
import { isUnpacked } from '../http/headers.ts';

export interface OAuthWay {
  readonly outbound: Outbound;
  readonly privateAddresses: boolean;
  readonly bounds: OAuthBounds;
}

/** Creates a fetch for the functions of the MCP SDK. It rejects with a `ConsentFailure`. */
export function oauthFetch(way: OAuthWay, signal: AbortSignal) {
  let requests = 0;
  return async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const url = checkedUrl(input instanceof Request ? input.url : input.toString(), way.privateAddresses);
    requests += 1;
    if (requests > way.bounds.requests) throw new ConsentFailure('The authorization server leads to too many places.');
    const answer = await sent(way, {
      method: init.method === 'POST' ? 'POST' : 'GET',
      url: url.href,
      headers: { ...Object.fromEntries(new Headers(init.headers)), 'accept-encoding': 'identity' },
      ...(init.body != null && { body: Buffer.from((init.body as string | URLSearchParams).toString()) }),
      signal,
    });
    const { statusCode: status } = answer;
    // The target of a redirect is not used.
    if (status < 200 || status > 599 || (status >= 300 && status < 400) || status === 204 || status === 205) {
      answer.body.on('error', () => undefined).destroy();
      return new Response(null, { status: status < 200 || status > 599 ? 502 : status });
    }
    return new Response(await bodyOf(answer, way.bounds), { status, headers: { 'content-type': 'application/json' } });
  };
}

/** Sends a request. Rejects with a `ConsentFailure`. The answer's body must be read or destroyed. */
export async function sent(way: OAuthWay, request: OutboundRequest): Promise<OutboundResponse> {
  const { outbound, privateAddresses, bounds } = way;
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(bounds.requestMs)]);
  try {
    return await outbound.send({ privateAddresses }, { ...request, signal });
  } catch (error) {
    if (error instanceof PrivateAddressError) throw notPublic();
    if (signal.aborted) throw new ConsentFailure('The authorization server did not answer in time.');
    throw new ConsentFailure('The authorization server could not be reached, or broke off.');
  }
}

async function bodyOf({ headers, body }: OutboundResponse, bounds: OAuthBounds): Promise<Uint8Array<ArrayBuffer>> {
  body.on('error', () => undefined);
  const { answerBytes: bytes, depth, elements } = bounds;
  const json = new JsonBudget({ bytes, depth, elements });
  const chunks: Buffer[] = [];
  try {
    if (!isUnpacked(headers['content-encoding'])) throw notAsSpecified();
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (json.exceeds(chunk) !== null) throw new ConsentFailure('The authorization server says too much.');
      chunks.push(chunk);
    }
    return new Uint8Array(Buffer.concat(chunks));
  } catch (error) {
    if (error instanceof ConsentFailure) throw error;
    throw new ConsentFailure('The authorization server did not answer in time, or broke off.');
  } finally {
    body.destroy();
  }
}

/**
 * Checks a URL. Throws a `ConsentFailure`. A browser is sent to some of them, so a literal address is checked here; names
 * are checked at connect.
 */
export function checkedUrl(given: string, privateAddresses: boolean): URL {
  const url = given.length <= oauthBounds.urlChars && URL.canParse(given) ? new URL(given) : null;
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') throw notAsSpecified();
  if (url.protocol !== 'https:' && !(privateAddresses && url.protocol === 'http:')) {
    throw new ConsentFailure('An address of the authorization server is not https.');
  }
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  if (!privateAddresses && isIP(literal) !== 0 && !isPublicAddress(literal)) throw notPublic();
  return url;
}

const notPublic = (): ConsentFailure => new ConsentFailure('An address of the authorization server is not public.');

export const notAsSpecified = (): ConsentFailure =>
  new ConsentFailure('The authorization server does not answer as OAuth specifies.');

/** Replaces errors of the SDK, which contain words of the server, by our own. */
export async function spoken<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ConsentFailure ? error : notAsSpecified();
  }
}
