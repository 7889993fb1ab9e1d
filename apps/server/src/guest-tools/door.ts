/**
 * The tools of an agent as an MCP server: streamable HTTP, without sessions and without streams. A separate server answers
 * each request, and identifies the agent only by its machine's address. The body is bounded and measured before the SDK sees
 * it. A guest's hosts, origins and sessions are ignored.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { CallToolResult, ListToolsResult } from '@modelcontextprotocol/sdk/types.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import { JsonBoundsError, asObject, boundedJson, loopShare } from '@lodge/domain';
import type { AgentTools, ToolGuest } from '@lodge/engine';
import type { OfferedTool } from '@lodge/ports';
import { bodyOf } from './body.ts';

const bodyBounds = { bytes: 256 * 1024, depth: 32, elements: 10_000 } as const;
const maxHeaderChars = 256;
/** Bound on a list of tools: the tools beyond it are left out. No model has a context for more. */
const maxListBytes = 512 * 1024;

/** Why a request is no call, in JSON-RPC's form. */
class Unreadable extends Error {
  readonly status: number;
  readonly code: number;
  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The same as `Door` of the broker. */
export interface ToolsDoor {
  handle(guest: ToolGuest, req: IncomingMessage, res: ServerResponse, signal: AbortSignal): Promise<void>;
}

export function createToolsDoor(tools: Tools, version: string): ToolsDoor {
  return {
    async handle({ agentId, accountId, confirmations }, req, res, signal) {
      try {
        checkTarget(req);
        const message = await messageOf(req);
        const reply = await answer(tools, {
          guest: { agentId, accountId, confirmations },
          req,
          message,
          version,
          signal,
        });
        if (reply === null) return;
        res.writeHead(reply.status, { 'content-type': 'application/json' });
        res.end(reply.text);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof Unreadable)) throw error;
        refuse(req, res, error);
      }
    },
  };
}

function checkTarget({ method, url = '' }: IncomingMessage): void {
  const [path] = url.split('?', 1);
  if (path !== '/mcp' && path !== '/mcp/')
    throw new Unreadable(404, ErrorCode.InvalidRequest, 'There is nothing here: the tools are at /mcp.');
  // A stream from here would keep the agent awake for ever.
  if (method !== 'POST')
    throw new Unreadable(
      405,
      ErrorCode.InvalidRequest,
      'Only POST is answered here: there are no streams and no sessions.',
    );
}

async function messageOf(req: IncomingMessage): Promise<unknown> {
  let message: unknown;
  try {
    message = boundedJson(await bodyOf(req, bodyBounds.bytes), bodyBounds);
  } catch (error) {
    if (error instanceof JsonBoundsError)
      throw new Unreadable(413, ErrorCode.InvalidRequest, `The message is too large: ${error.message}.`);
    if (error instanceof SyntaxError) throw new Unreadable(400, ErrorCode.ParseError, 'The body is not JSON.');
    throw error;
  }
  if (asObject(message) === null) {
    throw new Unreadable(400, ErrorCode.InvalidRequest, 'The body must be one JSON-RPC message: there are no batches.');
  }
  return message;
}

/** The tools of an agent, as the door needs them. */
type Tools = Pick<AgentTools, 'list' | 'call'>;

interface Asked {
  readonly guest: ToolGuest;
  readonly req: IncomingMessage;
  readonly message: unknown;
  readonly version: string;
  readonly signal: AbortSignal;
}

/** Null: the guest has left. */
async function answer(tools: Tools, asked: Asked): Promise<{ readonly status: number; readonly text: string } | null> {
  const { req, message, signal } = asked;
  const one = serverOf(tools, asked);
  const { server } = one;
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const gone = new Promise<null>((resolve) => {
    const leave = (): void => resolve(null);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
  try {
    await server.connect(transport);
    // Only headers that the protocol needs are copied from the guest's.
    const request = new Request('http://tools/mcp', { method: 'POST', headers: headersOf(req) });
    const reply = await Promise.race([transport.handleRequest(request, { parsedBody: message }), gone]);
    if (one.failure !== null) throw one.failure.cause;
    if (reply === null) return null;
    const text = await reply.text();
    // The SDK would write a list of hundreds of tools in one piece. No text in JSON has these bytes: its quotes are escaped.
    return { status: reply.status, text: one.listed === null ? text : text.replace('"tools":[]', () => one.listed!) };
  } finally {
    // This ends its running work.
    await server.close();
  }
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const version = headers['mcp-protocol-version'];
  return {
    'content-type': (headers['content-type'] ?? '').slice(0, maxHeaderChars),
    accept: (headers.accept ?? '').slice(0, maxHeaderChars),
    ...(typeof version === 'string' && { 'mcp-protocol-version': version.slice(0, maxHeaderChars) }),
  };
}

/** The SDK would use it for a client's answers to a server's questions, which do not exist here. */
const noValidator: jsonSchemaValidator = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'Nothing was asked.' }),
};

interface OneServer {
  readonly server: Server;
  /** The internal error, which the guest does not see. */
  failure: { readonly cause: unknown } | null;
  /** The text that replaces an empty list of tools. */
  listed: string | null;
}

function serverOf(tools: Tools, { guest, version, signal }: Asked): OneServer {
  const options = { capabilities: { tools: {} }, jsonSchemaValidator: noValidator };
  const one: OneServer = {
    server: new Server({ name: 'lodge', version }, options),
    failure: null,
    listed: null,
  };
  const within = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (cause) {
      one.failure = { cause };
      throw new McpError(ErrorCode.InternalError, 'Something went wrong.');
    }
  };
  one.server.setRequestHandler(ListToolsRequestSchema, async (): Promise<ListToolsResult> => {
    const offered = await within(tools.list(guest, signal));
    one.listed = `"tools":[${await listOf(offered, guest.agentId)}]`;
    return { tools: [] };
  });
  one.server.setRequestHandler(CallToolRequestSchema, async ({ params }): Promise<CallToolResult> => {
    const answered = await within(tools.call(guest, params.name, params.arguments ?? {}, signal));
    if (answered === null) {
      throw new McpError(ErrorCode.InvalidParams, 'There is no such tool; tools/list has those that there are.');
    }
    return { content: [...answered.content], isError: answered.isError } as CallToolResult;
  });
  return one;
}

/** Tools as JSON, as many as fit, written in small steps among those of other agents. */
async function listOf(tools: readonly OfferedTool[], agentId: string): Promise<string> {
  const left = tools.values();
  const written: string[] = [];
  let bytes = 0;
  await loopShare.run(agentId, () => {
    const { done, value } = left.next();
    if (done) return false;
    const text = JSON.stringify(value);
    const more = Buffer.byteLength(text) + 1;
    if (bytes + more > maxListBytes) return true;
    bytes += more;
    written.push(text);
    return true;
  });
  return written.join(',');
}

function refuse(req: IncomingMessage, res: ServerResponse, { status, code, message }: Unreadable): void {
  res.writeHead(status, {
    'content-type': 'application/json',
    ...(status === 405 && { allow: 'POST' }),
    // The unread rest of the body is not awaited.
    ...(!req.complete && { connection: 'close' }),
  });
  res.end(JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }));
  drain(req);
}

const maxDrainedBytes = 4 * 1024 * 1024;

/** Discards further data of the guest, so that it can read the reply; a body without an end is cut. */
function drain(req: IncomingMessage): void {
  let bytes = 0;
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxDrainedBytes) req.destroy();
  });
  req.resume();
}
