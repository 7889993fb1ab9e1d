/**
 * The MCP server of a principal, over HTTP and without sessions: each request gets a server of its own, whose tools call this
 * API with the caller's key. A call ends when it has answered, its client cancels it or closes the connection; its place is
 * free then, whether or not the client reads the answer.
 */
import type { McpMessage } from '@lodge/contract';
import { Places, Refusal } from '@lodge/domain';
import { lodgeServer } from '@lodge/mcp';
import type { Log } from '@lodge/ports';
import { Lodge } from '@lodge/sdk';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { presentedKey } from '../../identity/api-key.ts';
import { onReplyOver } from '../../pipeline/client-gone.ts';
import type { InnerCalls } from '../../pipeline/inner-calls.ts';
import type { RunningCalls } from './running-calls.ts';

const maxOfAccount = 32;
const places = { perName: maxOfAccount, inAll: 512, few: 4 };
/** Comments keep a silent stream alive. */
const keepAliveMs = 10_000;

export interface DoorNeeds {
  readonly inner: InnerCalls;
  readonly running: RunningCalls;
  readonly version: string;
  readonly log: Log;
}

/** A message that wants an answer. */
export type McpRequest = McpMessage & { readonly id: string | number; readonly method: string };

export class McpDoor {
  private readonly needs: DoorNeeds;
  private readonly places = new Places(places);

  constructor(needs: DoorNeeds) {
    this.needs = needs;
  }

  /** Answers a request; null: it was cancelled. `fruitless` is told if its tool asked nothing of the API. Refuses with 429. */
  async answer(
    request: FastifyRequest,
    reply: FastifyReply,
    message: McpRequest,
    fruitless: () => void,
  ): Promise<Response | null> {
    const { accountId } = request.principal;
    if (!this.places.take(accountId)) {
      throw new Refusal('rate_limit_exceeded', `More than ${maxOfAccount} MCP requests at once. Wait for one to end.`, {
        retryAfterSeconds: 2,
      });
    }
    let calls = 0;
    const call = new McpCall(this.needs, request, {
      isStream: wantsStream(request, message),
      called: () => (calls += 1),
    });
    const { principal } = request;
    const name = { principal, session: sessionOf(request), id: message.id };
    const leave = this.needs.running.begin(name, () => void call.end());
    void call.over.then(() => {
      leave();
      this.places.giveBack(accountId);
      if (calls === 0) fruitless();
    });
    onReplyOver(reply, () => void call.end());
    return call.answer(message);
  }
}

export const sessionOf = ({ headers }: FastifyRequest): string | null => {
  const session = headers['mcp-session-id'];
  return typeof session === 'string' ? session : null;
};

/** Only a tool may take long. */
function wantsStream({ headers }: FastifyRequest, { method }: McpRequest): boolean {
  return method === 'tools/call' && (headers.accept ?? '').includes('text/event-stream');
}

interface CallOptions {
  readonly isStream: boolean;
  readonly called: () => void;
}

/** One request at a server of its own. */
class McpCall {
  /** Resolves when it has answered, or was ended. */
  readonly over: Promise<void>;
  private readonly mcp: ReturnType<typeof lodgeServer>;
  private readonly transport: WebStandardStreamableHTTPServerTransport;
  private readonly request: FastifyRequest;
  private finish: () => void = () => undefined;

  constructor({ inner, version, log }: DoorNeeds, request: FastifyRequest, { isStream, called }: CallOptions) {
    this.request = request;
    this.over = new Promise((resolve) => (this.finish = resolve));
    const lodge = new Lodge({
      baseUrl: 'http://localhost',
      apiKey: presentedKey(request.headers)!,
      fetch: inner.fetchFor(request, called),
      // The client decides whether it tries again.
      maxRetries: 0,
    });
    const { fields } = request.scope;
    const onError = (err: unknown): void => log.error({ err, ...fields }, 'a tool of the MCP server failed');
    this.mcp = lodgeServer(lodge, { version, scopes: request.principal.scopes, onError });
    this.transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !isStream, keepAliveMs });
  }

  async answer(message: McpRequest): Promise<Response | null> {
    try {
      await this.mcp.connect(this.transport);
      this.endAfterAnswer();
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': String(this.request.headers['mcp-protocol-version'] ?? '2025-03-26'),
      };
      const asked = new Request('http://localhost/v1/mcp', { method: 'POST', headers });
      const parsedBody = withProgressAlone(message);
      // An ended call has no answer, and a stream that is ended is answered by its end.
      const ended = this.over.then(() => null);
      return await Promise.race([this.transport.handleRequest(asked, { parsedBody }), ended]);
    } catch (error) {
      await this.end();
      throw error;
    }
  }

  /** Ends what is under way. */
  async end(): Promise<void> {
    this.finish();
    await this.mcp.close();
  }

  private endAfterAnswer(): void {
    const { transport } = this;
    const send = transport.send.bind(transport);
    transport.send = async (message, options) => {
      await send(message, options);
      if ('result' in message || 'error' in message) setImmediate(() => void this.end());
    };
  }
}

/** The request without metadata that means nothing here: related tasks, for example. */
function withProgressAlone({ jsonrpc, id, method, params }: McpRequest): object {
  const { _meta, ...others } = params ?? {};
  const progressToken = _meta?.progressToken;
  return {
    jsonrpc,
    id,
    method,
    ...(params !== undefined && {
      params: { ...others, ...(progressToken !== undefined && { _meta: { progressToken } }) },
    }),
  };
}
