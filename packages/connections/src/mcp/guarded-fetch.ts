/** The one way of the MCP client to its server: one address, the host's credentials, everything bounded and masked. */
import { TokenBucket } from '@lodge/domain';
import { PrivateAddressError } from '@lodge/egress';
import type { Outbound, OutboundResponse } from '@lodge/egress';
import type { McpBounds } from '../bounds.ts';
import { isUnpacked } from '../http/headers.ts';
import { challengeOf } from '../oauth/challenge.ts';
import { Unauthorized } from '../oauth/login.ts';
import type { Credentials } from '../secret/credentials.ts';
import { Masker, maskedText } from '../secret/masker.ts';
import type { Needles } from '../secret/masker.ts';
import { JsonMeter } from './json-meter.ts';
import { McpRefused } from './mcp-refused.ts';

export interface McpWay {
  readonly outbound: Outbound;
  readonly privateAddresses: boolean;
  readonly bounds: McpBounds;
}

export interface McpServer {
  readonly url: string;
  /** As they are now: they may be others with the next request. */
  readonly login: { readonly credentials: Credentials };
}

/** Statuses whose answers have no body. */
const empty = new Set([204, 205, 304]);

export function guardedFetch({ outbound, privateAddresses, bounds }: McpWay, server: McpServer): typeof fetch {
  const posts = new TokenBucket({ perSecond: bounds.postsPerSecond, burst: 8 * bounds.postsPerSecond });
  return async (input, init = {}) => {
    const method = init.method ?? 'GET';
    // A stream that the server may speak on unasked would be open for as long as the agent is there.
    if (method === 'GET') return new Response(null, { status: 405 });
    const url = input instanceof Request ? input.url : input.toString();
    if (new URL(server.url).href !== new URL(url).href) throw new McpRefused('The server leads to another address.');
    if (!posts.allows(1, performance.now())) throw new McpRefused('The server asks for too much.');
    if (!privateAddresses && !url.startsWith('https:')) throw new PrivateAddressError();
    const credentials = server.login.credentials;
    const { accept: _accept, ...own } = credentials.headers;
    const signals = [AbortSignal.timeout(bounds.callMs + 5_000), init.signal].filter((each) => each != null);
    const answer = await outbound.send(
      { privateAddresses },
      {
        method: method === 'DELETE' ? 'DELETE' : 'POST',
        url,
        headers: { ...Object.fromEntries(new Headers(init.headers)), ...own, 'accept-encoding': 'identity' },
        ...(typeof init.body === 'string' && { body: Buffer.from(init.body) }),
        signal: AbortSignal.any(signals),
      },
    );
    checkAccess(answer, credentials);
    return responseOf(answer, bounds, credentials.needles);
  };
}

/** Throws where the server wants to know who asks. */
function checkAccess({ statusCode: status, headers, body }: OutboundResponse, credentials: Credentials): void {
  if (status !== 401 && status !== 403) return;
  const challenge = challengeOf(headers);
  if (status === 403 && challenge.error !== 'insufficient_scope') return;
  body.on('error', () => undefined).destroy();
  if (status === 401) throw new Unauthorized(challenge, credentials);
  throw new McpRefused('The server wants more access than its owner consented to: a wider scope.');
}

function responseOf({ statusCode: status, headers, body }: OutboundResponse, bounds: McpBounds, needles: Needles) {
  body.on('error', () => undefined);
  const isPlain = status >= 200 && status <= 599 && isUnpacked(headers['content-encoding']);
  if (!isPlain || (status >= 300 && status < 400)) {
    body.destroy();
    throw new McpRefused(isPlain ? 'The server redirects.' : 'The server answers in a way that was not asked for.');
  }
  const kept = Object.entries(headers).filter(([name]) => name === 'content-type' || name === 'mcp-session-id');
  const passed = kept.map(([name, value]): [string, string] => [name, maskedText(needles, [value ?? ''].flat()[0]!)]);
  if (empty.has(status)) body.destroy();
  return new Response(empty.has(status) ? null : masked(body, bounds, needles), { status, headers: passed });
}

function masked(body: OutboundResponse['body'], bounds: McpBounds, needles: Needles): ReadableStream<Uint8Array> {
  const { depth, elements } = bounds;
  const meter = new JsonMeter({ bytes: bounds.answerBytes, depth, elements });
  const masker = new Masker(needles);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        if (!meter.takes(chunk)) throw new McpRefused('The server answers with too much.');
        const passing = masker.push(chunk);
        if (passing.length > 0) yield new Uint8Array(passing);
      }
      const rest = masker.end();
      if (rest.length > 0) yield new Uint8Array(rest);
    } finally {
      body.destroy();
    }
  }
  return ReadableStream.from(pieces());
}
