/** A session with one server by the Model Context Protocol (streamable HTTP). */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Json } from '@lodge/domain';
import { atMost } from '@lodge/domain';
import { guardedFetch } from './guarded-fetch.ts';
import type { McpServer, McpWay } from './guarded-fetch.ts';
import { addTools } from './tools.ts';
import type { ServerTool } from './tools.ts';

/** Accepts every value. The agent judges a tool's answer, and the host compiles no schema of a server. */
const anything = { getValidator: () => (data: unknown) => ({ valid: true, data, errorMessage: undefined }) };

const endMs = 2_000;

interface SessionParts {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
  /** Aborts with a `CredentialEchoed`. Callers that wait for the server get this error, and nothing of the answer. */
  readonly refused: AbortSignal;
}

export class Session {
  readonly #client: Client;
  readonly #transport: StreamableHTTPClientTransport;
  readonly #way: McpWay;
  readonly #server: McpServer;
  readonly #refused: AbortSignal;

  private constructor(way: McpWay, server: McpServer, { client, transport, refused }: SessionParts) {
    this.#way = way;
    this.#server = server;
    this.#client = client;
    this.#transport = transport;
    this.#refused = refused;
  }

  /** Opens a session. Rejects when the server does not answer in time, or does not speak the protocol. */
  static async open(way: McpWay, server: McpServer): Promise<Session> {
    const client = new Client({ name: 'lodge', version: '1' }, { jsonSchemaValidator: anything as never });
    const refusing = new AbortController();
    const { signal: refused } = refusing;
    const fetch = guardedFetch(way, server, (why) => refusing.abort(why));
    const transport = new StreamableHTTPClientTransport(new URL(server.url), { fetch });
    // Waiting callers get the error by their own promise.
    client.onerror = () => undefined;
    try {
      const { listMs } = way.bounds;
      await client.connect(transport, { timeout: listMs, maxTotalTimeout: listMs, signal: refused });
    } catch (error) {
      await client.close().catch(() => undefined);
      throw refused.aborted ? refused.reason : error;
    }
    return new Session(way, server, { client, transport, refused });
  }

  /** Returns the tools by the agent's names for them. */
  async tools(connection: string): Promise<ReadonlyMap<string, ServerTool>> {
    const { bounds } = this.#way;
    const signal = AbortSignal.timeout(bounds.listMs);
    const tools = new Map<string, ServerTool>();
    let cursor: string | undefined;
    for (let page = 0; page < bounds.pages; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const result: Json = await this.#ask('tools/list', params, bounds.listMs, signal);
      await addTools(tools, result.tools, { connection, agentId: this.#server.row.agentId, bounds });
      if (typeof result.nextCursor !== 'string' || result.nextCursor.length > 4_096) break;
      cursor = result.nextCursor;
    }
    return tools;
  }

  call(name: string, args: Json, signal: AbortSignal): Promise<Json> {
    return this.#ask('tools/call', { name, arguments: args }, this.#way.bounds.callMs, signal);
  }

  async #ask(method: string, params: object, ms: number, signal: AbortSignal): Promise<Json> {
    const options = { timeout: ms, maxTotalTimeout: ms, signal: AbortSignal.any([signal, this.#refused]) };
    try {
      return await this.#client.request({ method, params } as never, ResultSchema, options);
    } catch (error) {
      throw this.#refused.aborted ? this.#refused.reason : error;
    }
  }

  /** Ends the session and tells the server, within bounds. */
  async end(): Promise<void> {
    const terminated = this.#transport.terminateSession().catch(() => undefined);
    await atMost(endMs, terminated, () => undefined);
    await this.#client.close().catch(() => undefined);
  }
}

/** Whether the server only reported that it no longer knows the session. */
export const isUnknownSession = (error: unknown): boolean =>
  error instanceof StreamableHTTPError && (error.code === 404 || error.code === 400);
