/**
 * For tests: a guest on a loopback address of its own, with what the adapter speaks to in one: the guest daemon's calls and
 * OpenClaw's gateway, as far as the adapter uses them, over real sockets. It records what happened, in order.
 */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { guestdPort, protocolVersion } from '@lodge/guest';
import { configPath, gatewayPort } from './config.ts';

export interface StandinGuest {
  readonly address: string;
  /** `wrote <path> <mode> <owner>`, `chat <model> <stream|whole>`, `sync <dropCaches>`, `exec <command>`, `end <graceMs>`, `rpc <method>`, `released <suspensionId>`. */
  readonly events: string[];
  /** Paths the guest's daemon answers with a 500. */
  readonly broken: Set<string>;
  /** Fields of the daemon's health beside those every daemon has. */
  health: object;
  /** By path, as the daemon was given them. */
  readonly files: Map<string, string>;
  runtimeLog: string;
  guestdLog: string;
  /** Answers of the gateway; change them to make it behave otherwise. */
  readonly gateway: {
    ready: boolean;
    /** Answers to each RPC method, in order; the last one stays. */
    rpc: Record<string, { status: number; body: object }[]>;
    chatStatus: number;
  };
  close(): Promise<void>;
}

export const ok = (payload: object): { status: number; body: object } => ({ status: 200, body: { ok: true, payload } });

export async function startStandinGuest(): Promise<StandinGuest> {
  const address = `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(2, 255)}`;
  const servers: Server[] = [];
  const guest: StandinGuest = {
    address,
    events: [],
    broken: new Set(),
    health: {},
    files: new Map(),
    runtimeLog: '',
    guestdLog: '',
    gateway: {
      ready: true,
      rpc: {
        'gateway.suspend.prepare': [ok({ status: 'ready', suspensionId: 's-1' })],
        'gateway.suspend.resume': [ok({ ok: true, status: 'running', resumed: true })],
      },
      chatStatus: 200,
    },
    async close() {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
  servers.push(
    await listen(address, guestdPort, (request, response) => serveDaemon(guest, request, response)),
    await listen(address, gatewayPort, (request, response) => serveGateway(guest, request, response)),
  );
  return guest;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

async function listen(host: string, port: number, handler: Handler): Promise<Server> {
  const server = createServer((request, response) => {
    handler(request, response).catch(() => response.destroy());
  });
  server.listen(port, host);
  await once(server, 'listening');
  return server;
}

async function serveDaemon(guest: StandinGuest, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url!, 'http://guest');
  const query = url.searchParams;
  response.setHeader('x-guestd-protocol', String(protocolVersion));
  if (guest.broken.has(url.pathname)) return json(response, 500, { error: 'broken' });
  switch (`${request.method} ${url.pathname}`) {
    case 'PUT /v1/files':
      guest.files.set(query.get('path')!, await bodyOf(request));
      guest.events.push(`wrote ${query.get('path')} ${query.get('mode')} ${query.get('owner')}`);
      return json(response, 200, {});
    case 'GET /v1/files': {
      const file = guest.files.get(query.get('path')!);
      return file === undefined ? json(response, 404, { error: 'no such file' }) : void response.end(file);
    }
    case 'POST /v1/sync': {
      const { dropCaches } = JSON.parse(await bodyOf(request)) as { dropCaches: boolean };
      guest.events.push(`sync ${dropCaches}`);
      return json(response, 200, {});
    }
    case 'POST /v1/exec': {
      const { argv } = JSON.parse(await bodyOf(request)) as { argv: string[] };
      guest.events.push(`exec ${argv.at(-1)}`);
      return json(response, 200, { exitCode: 0, signal: null, stdout: '', stderr: '' });
    }
    case 'POST /v1/runtime': {
      const { graceMs } = JSON.parse(await bodyOf(request)) as { graceMs: number };
      guest.events.push(`end ${graceMs}`);
      return json(response, 200, {});
    }
    case 'GET /v1/health':
      return json(response, 200, { uptimeSeconds: 1, cpusOnline: 1, memoryTotalMib: 1, ...guest.health });
    case 'GET /v1/logs': {
      const log = query.get('name') === 'runtime' ? guest.runtimeLog : guest.guestdLog;
      const from = Math.min(Number(query.get('offset')), log.length);
      const text = log.slice(from, from + Number(query.get('limit')));
      return json(response, 200, { text, nextOffset: from + text.length });
    }
    default:
      return json(response, 404, { error: 'no such route' });
  }
}

async function serveGateway(guest: StandinGuest, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { gateway, events } = guest;
  if (request.url === '/readyz') {
    return json(response, gateway.ready ? 200 : 503, {
      ready: gateway.ready,
      failing: gateway.ready ? [] : ['starting'],
    });
  }
  const token = guest.files.size > 0 && configOf(guest).gateway.auth.token;
  if (token && request.headers.authorization !== `Bearer ${token}`) return json(response, 401, {});
  const body = JSON.parse(await bodyOf(request)) as {
    method: string;
    stream: boolean;
    params: { suspensionId?: string; raw?: string; baseHash?: string; agentId?: string };
  };
  if (request.url === '/api/v1/admin/rpc') {
    events.push(`rpc ${body.method}`);
    const answers = gateway.rpc[body.method] ?? [roster(guest, body.method, body.params)];
    const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
    if (body.method === 'gateway.suspend.resume' && answer.status === 200) {
      events.push(`released ${body.params.suspensionId}`);
    }
    return json(response, answer.status, answer.body);
  }
  events.push(`chat ${String(request.headers['x-openclaw-model'])} ${body.stream ? 'stream' : 'whole'}`);
  if (gateway.chatStatus !== 200) return json(response, gateway.chatStatus, { error: { message: 'scripted' } });
  if (!body.stream) return json(response, 200, { choices: [{ message: { role: 'assistant', content: 'pong' } }] });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const content of ['po', 'ng'])
    response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
  response.end('data: [DONE]\n\n');
}

interface Config {
  readonly gateway: { readonly auth: { readonly token: string } };
  readonly agents: { readonly entries: Record<string, unknown> };
}

const configOf = (guest: StandinGuest): Config => JSON.parse(guest.files.get(configPath)!) as Config;
const refused = (message: string) => ({
  status: 400,
  body: { ok: false, error: { code: 'INVALID_REQUEST', message } },
});

/** OpenClaw's agents, which are those of its configuration. */
function roster(
  guest: StandinGuest,
  method: string,
  {
    raw = '',
    baseHash,
    agentId = '',
  }: { readonly raw?: string; readonly baseHash?: string; readonly agentId?: string },
): { status: number; body: object } {
  const config = configOf(guest);
  const { entries } = config.agents;
  const hash = String(Object.keys(entries).length);
  const written = (): { status: number; body: object } => {
    guest.files.set(configPath, JSON.stringify(config));
    return ok({});
  };
  switch (method) {
    case 'config.get':
      return ok({ hash });
    case 'config.patch':
      if (baseHash !== hash) return refused('config changed since last load');
      Object.assign(entries, (JSON.parse(raw) as Config).agents.entries);
      return written();
    case 'agents.list':
      return ok({ agents: Object.keys(entries).map((id) => ({ id })) });
    case 'agents.delete':
      if (!(agentId in entries)) return refused(`agent "${agentId}" not found`);
      delete entries[agentId];
      return written();
    default:
      return refused('unknown');
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
