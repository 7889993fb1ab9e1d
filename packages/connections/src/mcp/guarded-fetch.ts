/**
 * The one way of the MCP client to its server: one address, the host's credentials, everything bounded, and no answer that
 * contains a credential.
 */
import { JsonBudget, TokenBucket } from '@lodge/domain';
import { PrivateAddressError } from '@lodge/egress';
import type { Outbound, OutboundResponse } from '@lodge/egress';
import type { ConnectionRow } from '@lodge/ports';
import type { McpBounds } from '../bounds.ts';
import type { Budget } from '../budget.ts';
import { isUnpacked } from '../http/headers.ts';
import { challengeOf } from '../oauth/challenge.ts';
import { Unauthorized } from '../oauth/login.ts';
import type { Credentials } from '../secret/credentials.ts';
import { EchoSearch } from '../secret/echo-search.ts';
import { CredentialEchoed, McpRefused } from './mcp-refused.ts';

export interface McpWay {
  readonly outbound: Outbound;
  readonly privateAddresses: boolean;
  readonly bounds: McpBounds;
  readonly budget: Budget;
  /** Reports an answer that contained the connection's credential. Never rejects. */
  readonly echoed: (row: ConnectionRow) => Promise<void>;
}

export interface McpServer {
  readonly row: ConnectionRow;
  readonly url: string;
  /** The present credentials, which may change with the next request. */
  readonly login: { readonly credentials: Credentials };
}

/** Statuses whose answers have no body. */
const empty = new Set([204, 205, 304]);

/** Creates a fetch. `refused` is called with the reason why nothing of the session may be used any more. */
export function guardedFetch(way: McpWay, server: McpServer, refused: (why: CredentialEchoed) => void): typeof fetch {
  const { outbound, privateAddresses, bounds } = way;
  const posts = new TokenBucket({ perSecond: bounds.postsPerSecond, burst: 8 * bounds.postsPerSecond });
  return async (input, init = {}) => {
    const method = init.method ?? 'GET';
    // A stream of unasked messages would be open as long as the agent exists.
    if (method === 'GET') return new Response(null, { status: 405 });
    const url = input instanceof Request ? input.url : input.toString();
    if (new URL(server.url).href !== new URL(url).href) throw new McpRefused('The server leads to another address.');
    if (!posts.allows(1, performance.now())) throw new McpRefused('The server asks for too much.');
    if (!privateAddresses && !url.startsWith('https:')) throw new PrivateAddressError();
    const credentials = server.login.credentials;
    const { accept: _accept, ...own } = credentials.headers;
    const signals = [AbortSignal.timeout(bounds.callMs + 5_000), init.signal].filter((each) => each != null);
    const answer = await outbound.send(
      { privateAddresses, holder: server.row.accountId },
      {
        method: method === 'DELETE' ? 'DELETE' : 'POST',
        url,
        headers: { ...Object.fromEntries(new Headers(init.headers)), ...own, 'accept-encoding': 'identity' },
        ...(typeof init.body === 'string' && { body: Buffer.from(init.body) }),
        signal: AbortSignal.any(signals),
      },
    );
    checkAccess(answer, credentials);
    const search = new EchoSearch(credentials.sought);
    return responseOf(answer, (body) => checked(body, way, server, search, refused));
  };
}

/** Throws when the server wants authorization. */
function checkAccess({ statusCode: status, headers, body }: OutboundResponse, credentials: Credentials): void {
  if (status !== 401 && status !== 403) return;
  const challenge = challengeOf(headers);
  if (status === 403 && challenge.error !== 'insufficient_scope') return;
  body.on('error', () => undefined).destroy();
  if (status === 401) throw new Unauthorized(challenge, credentials);
  throw new McpRefused('The server wants more access than its owner consented to: a wider scope.');
}

function responseOf(
  { statusCode: status, headers, body }: OutboundResponse,
  checkedBody: (body: OutboundResponse['body']) => AsyncIterable<Uint8Array>,
): Response {
  body.on('error', () => undefined);
  const isPlain = status >= 200 && status <= 599 && isUnpacked(headers['content-encoding']);
  if (!isPlain || (status >= 300 && status < 400)) {
    body.destroy();
    throw new McpRefused(isPlain ? 'The server redirects.' : 'The server answers in a way that was not asked for.');
  }
  // No other header goes on to the guest.
  const kept = Object.entries(headers).filter(([name]) => name === 'content-type' || name === 'mcp-session-id');
  const passed = kept.map(([name, value]): [string, string] => [name, [value ?? ''].flat()[0]!]);
  if (empty.has(status)) body.destroy();
  return new Response(empty.has(status) ? null : ReadableStream.from(checkedBody(body)), { status, headers: passed });
}

/**
 * Yields the same bytes. Ends with an error when they are too many, or contain the credential. Nobody uses an answer before
 * its end.
 */
async function* checked(
  body: OutboundResponse['body'],
  { bounds, budget, echoed }: McpWay,
  { row }: McpServer,
  search: EchoSearch,
  refused: (why: CredentialEchoed) => void,
): AsyncGenerator<Uint8Array> {
  const { depth, elements, answerBytes, callMs } = bounds;
  const json = new JsonBudget({ bytes: answerBytes, depth, elements }, 'lines');
  const signal = AbortSignal.timeout(callMs);
  const held = budget.held.heldBy(row);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (json.exceeds(chunk) !== null) throw new McpRefused('The server answers with too much.');
      if (!held.take(chunk.length)) throw new McpRefused('Too many bytes are under way. Try again shortly.');
      await budget.pace(row, chunk.length * search.weight, signal);
      if (await search.pushInSteps(row.agentId, chunk)) throw new CredentialEchoed();
      yield new Uint8Array(chunk);
    }
    if (search.end()) throw new CredentialEchoed();
  } catch (error) {
    if (error instanceof CredentialEchoed) {
      await echoed(row);
      refused(error);
    }
    throw error;
  } finally {
    held.giveBack();
    body.destroy();
  }
}
