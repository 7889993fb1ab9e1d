/**
 * For tests: the guest daemon's calls over a real socket, as far as the runtimes use them. It records the events, in order.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { guestdPort, protocolVersion } from '@lodge/guest';

export interface StubDaemon {
  /**
   * `wrote <path> <mode> <owner>`, `sync <dropCaches>`, `exec <last argument>`, `end <graceMs>`, and the gateway's events.
   */
  readonly events: string[];
  /** Paths that the daemon answers with a 500. */
  readonly broken: Set<string>;
  /** Fields of the daemon's health beside those every daemon has. */
  health: object;
  readonly files: Map<string, string>;
  /** Whether it is from before browsers. */
  isOld: boolean;
  runtimeLog: string;
  guestdLog: string;
}

export const newDaemon = (): StubDaemon => ({
  events: [],
  broken: new Set(),
  health: {},
  files: new Map(),
  isOld: false,
  runtimeLog: '',
  guestdLog: '',
});

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export async function listen(host: string, port: number, handler: Handler): Promise<Server> {
  const server = createServer((request, response) => {
    handler(request, response).catch(() => response.destroy());
  });
  server.listen(port, host);
  await once(server, 'listening');
  return server;
}

export const listenDaemon = (host: string, daemon: StubDaemon): Promise<Server> =>
  listen(host, guestdPort, (request, response) => serveDaemon(daemon, request, response));

async function serveDaemon(daemon: StubDaemon, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url!, 'http://guest');
  const query = url.searchParams;
  response.setHeader('x-guestd-protocol', String(protocolVersion));
  if (daemon.broken.has(url.pathname)) return json(response, 500, { error: 'broken' });
  switch (`${request.method} ${url.pathname}`) {
    case 'PUT /v1/files':
      daemon.files.set(query.get('path')!, await bodyOf(request));
      daemon.events.push(`wrote ${query.get('path')} ${query.get('mode')} ${query.get('owner')}`);
      return json(response, 200, {});
    case 'GET /v1/files': {
      const text = daemon.files.get(query.get('path')!);
      if (text === undefined) return json(response, 404, { error: 'no such file' });
      response.end(text);
      return;
    }
    case 'POST /v1/sync': {
      const { dropCaches } = JSON.parse(await bodyOf(request)) as { dropCaches: boolean };
      daemon.events.push(`sync ${dropCaches}`);
      return json(response, 200, {});
    }
    case 'POST /v1/exec': {
      const { argv } = JSON.parse(await bodyOf(request)) as { argv: string[] };
      daemon.events.push(`exec ${argv.at(-1)}`);
      return json(response, 200, { exitCode: 0, signal: null, stdout: '', stderr: '' });
    }
    case 'POST /v1/runtime': {
      const { graceMs } = JSON.parse(await bodyOf(request)) as { graceMs: number };
      daemon.events.push(`end ${graceMs}`);
      return json(response, 200, {});
    }
    case 'PUT /v1/browser': {
      if (daemon.isOld) return json(response, 404, { error: 'no such route' });
      const { enabled } = JSON.parse(await bodyOf(request)) as { enabled: boolean };
      daemon.events.push(`browser ${enabled}`);
      if (enabled) daemon.files.set('/var/lib/lodge/browser', '');
      else daemon.files.delete('/var/lib/lodge/browser');
      return json(response, 200, { available: true });
    }
    case 'GET /v1/health':
      return json(response, 200, { uptimeSeconds: 1, cpusOnline: 1, memoryTotalMib: 1, ...daemon.health });
    case 'GET /v1/logs': {
      const log = query.get('name') === 'runtime' ? daemon.runtimeLog : daemon.guestdLog;
      const from = Math.min(Number(query.get('offset')), log.length);
      const text = log.slice(from, from + Number(query.get('limit')));
      return json(response, 200, { text, nextOffset: from + text.length });
    }
    default:
      return json(response, 404, { error: 'no such route' });
  }
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

export function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Answers a chat completion with `pong`. */
export function pong(response: ServerResponse, stream: boolean): void {
  if (!stream) return json(response, 200, { choices: [{ message: { role: 'assistant', content: 'pong' } }] });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const content of ['po', 'ng'])
    response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
  response.end('data: [DONE]\n\n');
}
