/* oxlint-disable no-restricted-imports -- only tests import this file */
/**
 * A real MCP server over streamable HTTP, of the official SDK, which requires a token. It may be restarted, and misbehave.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js';

export interface McpTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: object;
  readonly answer: (args: Record<string, unknown>) => object | Promise<object>;
}

export interface McpServerOptions {
  /** The required bearer token, or a check of the header `Authorization`. */
  readonly token: string | ((authorization: string | undefined) => boolean);
  readonly tools: () => readonly McpTool[];
  /** Whether it answers as JSON in one piece instead of a stream of events. */
  readonly json?: boolean;
  /** Answers in place of the protocol when it returns true. */
  readonly instead?: (req: IncomingMessage, res: ServerResponse) => boolean;
}

export async function startMcpServer(options: McpServerOptions) {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const requests: { readonly method: string; readonly authorization: string | undefined }[] = [];
  let initialized = 0;

  async function open(): Promise<StreamableHTTPServerTransport> {
    initialized += 1;
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: options.json ?? false,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    const server = new Server({ name: 'stub', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, async ({ params }) => {
      const all = options.tools();
      const from = Number(params?.cursor ?? 0);
      const page = all.slice(from, from + 50).map(({ name, description, inputSchema }) => ({
        name,
        ...(description !== undefined && { description }),
        inputSchema: (inputSchema ?? { type: 'object' }) as { type: 'object' },
      }));
      return { tools: page, ...(from + 50 < all.length && { nextCursor: String(from + 50) }) };
    });
    server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
      const tool = options.tools().find(({ name }) => name === params.name);
      if (!tool) throw new McpError(ErrorCode.InvalidParams, `no tool ${params.name}`);
      return await tool.answer(params.arguments ?? {});
    });
    await server.connect(transport);
    return transport;
  }

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<unknown> {
    requests.push({ method: req.method!, authorization: req.headers.authorization });
    if (options.instead?.(req, res)) return;
    const { token } = options;
    const given = req.headers.authorization;
    const isKnown = typeof token === 'string' ? given === `Bearer ${token}` : token(given);
    if (!isKnown) return res.writeHead(401).end('no token');
    const id = req.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (id !== undefined && !known) return res.writeHead(404).end('no such session');
    return (known ?? (await open())).handleRequest(req, res);
  }

  const http = createServer((req, res) => void handle(req, res).catch(() => res.destroy()));
  http.listen(0, '127.0.0.1');
  await new Promise((resolve) => http.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    requests,
    sessions,
    initialized: () => initialized,
    /** Forgets all sessions, like a restarted server. */
    forget: () => sessions.clear(),
    async close(): Promise<void> {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
