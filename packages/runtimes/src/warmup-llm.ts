/**
 * The model for the warm-up of a template. It answers `pong` at once on every API that a guest is configured for, streamed
 * or not. When the prompt is `toolsPrompt`, it first asks for a few tool calls, so a clone's first real tool call finds its
 * code loaded. It also serves the host's tools, which a runtime lists at its start. It is no test double: templates are made
 * with it, on machines without any provider account.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostToolsPath } from './host-tools.ts';
import { mcpReply } from './warmup-mcp.ts';
import { wireAt, type Prompt, type ToolCall } from './warmup-wires.ts';

export const textPrompt = 'Warm-up: answer pong.';
export const toolsPrompt = 'Warm-up: use your tools, then answer pong.';

/** The tool calls of each model call in a turn with tools, in the runtime's own names. */
export type ToolRounds = readonly (readonly ToolCall[])[];

/** Listens on any free port of `host`. `close` ends its connections. */
export async function startWarmupLlm(
  host: string,
  rounds: ToolRounds,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    serve(request, response, rounds).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const maxBodyBytes = 8 * 1024 * 1024;

async function serve(request: IncomingMessage, response: ServerResponse, rounds: ToolRounds): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://warm-up');
  if (pathname === hostToolsPath) return serveTools(request, response);
  const wire = wireAt(pathname);
  if (request.method !== 'POST' || wire === null) {
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"no such path"}}');
    return;
  }
  const body = await readBody(request);
  const prompt = body && wire.prompt(body, pathname);
  if (!prompt) {
    response
      .writeHead(400, { 'content-type': 'application/json' })
      .end('{"error":{"message":"not a chat","type":"invalid_request_error"}}');
    return;
  }
  const calls = nextCalls(prompt, rounds);
  if (prompt.stream) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(wire.stream(calls));
  } else {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(wire.reply(calls)));
  }
}

/** Answers and ends the connection. A clone must not find an open connection whose other end is gone. */
async function serveTools(request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.setHeader('connection', 'close');
  if (request.method !== 'POST') {
    response.writeHead(405, { allow: 'POST' }).end();
    return;
  }
  const message = await readBody(request);
  const reply = message && mcpReply(message);
  if (reply === null) response.writeHead(message === null ? 400 : 202).end();
  else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown> | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBodyBytes) return null;
    chunks.push(chunk);
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Returns the tool calls to ask for now: the first round whose results are missing. Empty when the answer is due. */
function nextCalls({ said, results }: Prompt, rounds: ToolRounds): readonly ToolCall[] {
  if (!JSON.stringify(said).includes(toolsPrompt)) return [];
  let asked = 0;
  for (const round of rounds) {
    if (results <= asked) return round;
    asked += round.length;
  }
  return [];
}
