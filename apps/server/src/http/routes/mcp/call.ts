/** `POST /v1/mcp`: the API as tools for models. Nothing is kept between requests, and there is no stream but a reply's. */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { McpAnswer, McpHeaders, McpMessage, McpStreamEvent } from '@lodge/contract';
import type { Log } from '@lodge/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../../app-types.ts';
import type { NetworkSettings, Reached } from '../../context.ts';
import { InnerCalls } from '../../pipeline/inner-calls.ts';
import type { Limits } from '../../pipeline/limits/limits.ts';
import { mcpPath } from '../oauth/metadata.ts';
import { eventStreamType } from '../../reply/event-stream.ts';
import { checkOrigin } from './check-origin.ts';
import { McpDoor, sessionOf } from './door.ts';
import type { McpRequest } from './door.ts';
import { RunningCalls } from './running-calls.ts';

const schema = {
  operationId: 'callMcp',
  tags: ['MCP'],
  summary: 'Use the API as tools of the Model Context Protocol',
  description:
    "Streamable HTTP of the Model Context Protocol: one JSON-RPC message in each request. `tools/list` names the tools that the key's scopes allow; each calls this API with the same key, and counts there. A request of a tool is answered as `text/event-stream` where `Accept` has it, with its progress; everything else as JSON. Closing the connection ends a call, and so does `notifications/cancelled` with the session that `initialize` gave. GET and DELETE are 405: there are no other streams, and no sessions to end.",
  headers: McpHeaders,
  body: McpMessage,
  response: {
    200: {
      description: 'The answer to a request.',
      headers: { 'Mcp-Session-Id': { type: 'string', description: 'With the answer to `initialize`.' } },
      content: { 'application/json': { schema: McpAnswer }, 'text/event-stream': { schema: McpStreamEvent } },
    },
    202: { type: 'null', description: 'A notification was taken, or a request cancelled.' },
  },
};

const config = { passesOn: true, rate: 'reads', challenges: mcpPath, errors: ['csrf_refused'] } as const;

interface Needs extends Reached {
  readonly network?: NetworkSettings;
  readonly limiter: Limits | null;
  readonly version: string;
  readonly log: Log;
}

/** Methods that ask something of the API, where that is counted. */
const asking = new Set(['tools/call', 'resources/read']);

export function mcpRoute(app: App, { origin, network, limiter, version, log }: Needs): void {
  const running = new RunningCalls();
  const door = new McpDoor({ inner: new InnerCalls(app), running, version, log });
  const allowed = network?.corsOrigins ?? [];
  app.route({
    method: 'POST',
    url: mcpPath,
    schema,
    config,
    onRequest: async ({ headers }) => checkOrigin(origin(), allowed, headers),
    handler: async (request, reply) => {
      const { body } = request;
      if (!isRequest(body)) {
        await limiter?.byPrincipal(request, reply);
        if (body.method === 'notifications/cancelled') cancel(running, request);
        return reply.code(202).send();
      }
      if (asking.has(body.method)) limiter?.checkPrincipal(request, reply);
      else await limiter?.byPrincipal(request, reply);
      const fruitless = (): void => {
        if (!asking.has(body.method)) return;
        limiter?.countFruitless(request).catch((err: unknown) => log.warn({ err }, 'an MCP request was not counted'));
      };
      const response = await door.answer(request, reply, body, fruitless);
      if (body.method === 'initialize') reply.header('mcp-session-id', randomUUID());
      return passOn(reply, response);
    },
  });
}

const isRequest = (message: McpMessage): message is McpRequest =>
  message.id !== undefined && message.method !== undefined;

function cancel(running: RunningCalls, request: FastifyRequest): void {
  const { params } = request.body as McpMessage;
  const { requestId: id } = (params ?? {}) as { readonly requestId?: unknown };
  running.cancel({ principal: request.principal, session: sessionOf(request), id });
}

async function passOn(reply: FastifyReply, response: Response | null): Promise<FastifyReply> {
  if (response === null) return reply.code(202).send();
  reply.code(response.status);
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    return reply.type('application/json; charset=utf-8').send(await response.text());
  }
  return reply
    .type(eventStreamType)
    .headers({ 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' })
    .send(Readable.from(begun(response.body as NodeReadableStream<Uint8Array>)));
}

/** The stream after a comment: headers go out with the first bytes, and a client may wait for those only a while. */
async function* begun(stream: NodeReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield Buffer.from(': working\n\n');
  yield* stream;
}
