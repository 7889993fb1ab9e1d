import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  maxBrowserHoldSeconds,
  maxJsonBytes,
  maxLogChunkBytes,
  maxRuntimeGraceMs,
  protocolVersion,
  type LogName,
  type MachineUser,
} from '@lodge/guest';
import { Access } from './access.ts';
import type { AgentBrowser } from './browser/browser.ts';
import { chunksOf } from './chunks.ts';
import { CommandRecords } from './command-records.ts';
import { setCpusOnline } from './cpus.ts';
import { Refusal } from './errors.ts';
import { Executor } from './exec.ts';
import { fieldsOf, integer, optional, text, yesNo } from './fields.ts';
import { fileRefusal } from './file-refusal.ts';
import { readGuestFile, writeGuestFile } from './files.ts';
import type { Freezer } from './freezer.ts';
import { Generation, identityFrom } from './generation.ts';
import { health } from './health.ts';
import type { Journal } from './journal.ts';
import type { Kernel } from './kernel.ts';
import type { LogFile } from './log-file.ts';
import type { RuntimeSupervisor } from './runtime-service.ts';
import type { Settings } from './settings.ts';
import { Terminals } from './terminals.ts';
import { packTree, unpackTree } from './tree.ts';
import { listFolder, readContent, readEntry } from './workspace/read.ts';
import { Uploads } from './workspace/uploads.ts';
import { WorkspaceWriter } from './workspace/write.ts';

export interface ServerParts {
  readonly settings: Settings;
  readonly journal: Journal;
  readonly kernel: Kernel;
  readonly freezer: Freezer;
  readonly runtime: RuntimeSupervisor;
  readonly browser: AgentBrowser;
  readonly logs: Readonly<Record<LogName, LogFile>>;
}

interface Call {
  readonly request: IncomingMessage;
  readonly query: URLSearchParams;
  /** Aborts when the caller has gone. */
  readonly gone: AbortSignal;
}

/** What a route gives back: JSON, or bytes as they come. */
type Reply = { readonly json: object } | Streamed;
interface Streamed {
  readonly stream: Readable;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | number>>;
}
type Route = (call: Call) => Promise<Reply>;
type Routes = Readonly<Record<string, Route>>;

const done: Reply = { json: {} };
const shortestEntropy = 32;
const longestEntropy = 1024;

function routesOf({ settings, journal, kernel, freezer, runtime, logs }: ServerParts, records: CommandRecords): Routes {
  const generation = new Generation(settings.root, journal);
  const executor = new Executor(settings, records);
  return {
    'GET /v1/health': async () => ({ json: await health(settings) }),
    'POST /v1/clock': async ({ request }) => {
      const fields = fieldsOf(await readJson(request));
      const unixMs = integer(fields, 'unixMs', 0, Number.MAX_SAFE_INTEGER);
      const entropy = Buffer.from(text(fields, 'entropy'), 'base64');
      if (entropy.length < shortestEntropy || entropy.length > longestEntropy) {
        throw new Refusal(400, `entropy must be ${shortestEntropy} to ${longestEntropy} bytes, in base64`);
      }
      const identity = optional(fields, 'identity', (all, key) => identityFrom(all[key]));
      const goOn = optional(fields, 'goOn', yesNo) ?? true;
      await kernel.setClock(unixMs, entropy);
      if (identity !== undefined) generation.begin(identity);
      if (goOn) freezer.thaw();
      return done;
    },
    'POST /v1/freeze': async ({ gone }) => {
      await freezer.freeze(gone);
      return done;
    },
    'POST /v1/cpus': async ({ request, gone }) => {
      const fields = fieldsOf(await readJson(request));
      await setCpusOnline(settings.root, integer(fields, 'online', 1, Number.MAX_SAFE_INTEGER), gone);
      return done;
    },
    'POST /v1/sync': async ({ request }) => {
      const dropCaches = yesNo(fieldsOf(await readJson(request)), 'dropCaches');
      await kernel.sync();
      if (dropCaches) await writeFile(`${settings.root}/proc/sys/vm/drop_caches`, '3');
      return done;
    },
    'POST /v1/runtime': async ({ request }) => {
      const fields = fieldsOf(await readJson(request));
      const graceMs = integer(fields, 'graceMs', 0, maxRuntimeGraceMs);
      if (yesNo(fields, 'run')) runtime.start();
      else await runtime.stop(graceMs);
      return done;
    },
    'POST /v1/exec': async ({ request, gone }) => ({ json: await executor.run(await readJson(request), gone) }),
    'POST /v1/exec/stream': async ({ request, gone }) => ({
      stream: await executor.stream(await readJson(request), gone),
    }),
    'PUT /v1/files': async ({ request, query }) => {
      await writeGuestFile(settings, query, request);
      return done;
    },
    'GET /v1/files': async ({ query }) => ({ stream: await readGuestFile(query) }),
    'GET /v1/logs': async ({ query }) => {
      const name = query.get('name');
      if (name !== 'guestd' && name !== 'runtime') throw new Refusal(400, 'name must be one of: guestd, runtime');
      const numbers = { offset: Number(query.get('offset') ?? NaN), limit: Number(query.get('limit') ?? NaN) };
      const offset = integer(numbers, 'offset', 0, Number.MAX_SAFE_INTEGER);
      return { json: await logs[name].read(offset, integer(numbers, 'limit', 1, maxLogChunkBytes)) };
    },
  };
}

/** The agent's browser. */
const browserRoutes = (browser: AgentBrowser): Routes => ({
  'PUT /v1/browser': async ({ request }) => ({
    json: await browser.put(yesNo(fieldsOf(await readJson(request)), 'enabled')),
  }),
  'GET /v1/browser': async () => ({ json: await browser.state() }),
  'POST /v1/browser/hold': async ({ request }) => {
    browser.holdFor(integer(fieldsOf(await readJson(request)), 'seconds', 0, maxBrowserHoldSeconds));
    return done;
  },
});

/** What the host's users do with files, and what moves an agent into another guest. */
function fileRoutes(settings: Settings): Routes {
  const writer = new WorkspaceWriter(settings);
  const uploads = new Uploads(settings, writer);
  const routes: Routes = {
    'GET /v1/workspace': async ({ query }) => {
      const { entry, stream, length, range } = await readContent(settings, query);
      const headers = { 'x-guestd-entry': JSON.stringify(entry), 'content-length': length };
      return range === null
        ? { stream, headers }
        : { stream, status: 206, headers: { ...headers, 'content-range': range } };
    },
    'GET /v1/workspace/entry': async ({ query }) => ({ json: await readEntry(settings, query) }),
    'GET /v1/workspace/list': async ({ query }) => ({ json: await listFolder(settings, query) }),
    'PUT /v1/workspace': async ({ query, request }) => ({ json: await writer.write(query, chunksOf(request)) }),
    'PUT /v1/workspace/folder': async ({ query }) => ({ json: await writer.makeFolder(query) }),
    'DELETE /v1/workspace': async ({ query }) => {
      await writer.remove(query);
      return done;
    },
    'GET /v1/uploads': async ({ query }) => ({ json: await uploads.state(query) }),
    'PUT /v1/uploads': async ({ query, request }) => ({ json: await uploads.append(query, request) }),
    'POST /v1/uploads': async ({ query }) => ({ json: await uploads.finish(query) }),
    'DELETE /v1/uploads': async ({ query }) => {
      await uploads.remove(query);
      return done;
    },
    'GET /v1/tree': async ({ query }) => ({ stream: await packTree(settings, query) }),
    'PUT /v1/tree': async ({ query, request }) => {
      await unpackTree(settings, query, request);
      return done;
    },
  };
  const refusing =
    (route: Route): Route =>
    (call) =>
      route(call).catch((error: unknown) => Promise.reject(fileRefusal(error)));
  return Object.fromEntries(Object.entries(routes).map(([name, route]) => [name, refusing(route)]));
}

export function createGuestServer(parts: ServerParts): Server {
  const { settings, kernel, journal, browser } = parts;
  const records = new CommandRecords(`${settings.root}/run/lodge/commands`);
  const routes = { ...routesOf(parts, records), ...browserRoutes(browser), ...fileRoutes(settings) };
  const terminals = new Terminals({ settings, records, kernel });
  const access = new Access(settings, journal);
  // A file comes at the pace of whoever sends it to the host, which is the host's to bound.
  const limits = { requestTimeout: 15 * 60_000, headersTimeout: 10_000, maxHeaderSize: 16 * 1024 };
  const server = createServer(limits, (request, response) => {
    response.setHeader('x-guestd-protocol', String(protocolVersion));
    response.setHeader('connection', 'close');
    void serve({ routes, access, journal }, request, response);
  });
  server.on('upgrade', (request, socket, head) => {
    void serveUpgrade({ terminals, browser, access, journal }, { request, socket, head });
  });
  server.maxConnections = 128;
  // A process in the guest that connects has the guest's address, whatever address it connects to.
  server.on('connection', (socket) => {
    if (settings.peer !== null && socket.remoteAddress !== settings.peer) socket.destroy();
  });
  return server;
}

interface Serving {
  readonly access: Access;
  readonly journal: Journal;
}

async function serve(
  { routes, access, journal }: Serving & { readonly routes: Routes },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const url = URL.parse(request.url ?? '/', 'http://guest');
  const name = `${request.method} ${url?.pathname}`;
  try {
    access.check(request.headers);
    const route = routes[name];
    if (url === null || route === undefined) throw new Refusal(404, 'no such route');
    const reply = await route({ request, query: url.searchParams, gone: gone.signal });
    if ('json' in reply) sendJson(response, 200, reply.json);
    else {
      response.writeHead(reply.status ?? 200, reply.headers);
      await pipeline(reply.stream, response);
    }
  } catch (error) {
    const { status, message } = refusalOf(error, name, journal);
    // Of whoever may not call, no more is taken: the connection ends with the reply.
    if (status !== 401) await drain(request);
    if (response.destroyed) return;
    if (response.headersSent) response.destroy();
    else sendJson(response, status, { error: message });
  }
}

function refusalOf(error: unknown, name: string, journal: Journal): Refusal {
  if (error instanceof Refusal) return error;
  journal.error(`${name} failed`, error);
  return new Refusal(500, "the guest's daemon failed, see its log");
}

/** Whose shell it is. A path for each, so that an older daemon, which knows the first alone, gives root no other one. */
const terminalUsers: Readonly<Record<string, MachineUser | undefined>> = {
  '/v1/terminal': 'agent',
  '/v1/terminal/root': 'root',
};

interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

async function serveUpgrade(
  { terminals, browser, access, journal }: Serving & { readonly terminals: Terminals; readonly browser: AgentBrowser },
  { request, socket, head }: Upgrade,
): Promise<void> {
  socket.on('error', () => undefined); // Its close says so too.
  const url = URL.parse(request.url ?? '/', 'http://guest');
  const name = `${request.method} ${url?.pathname}`;
  try {
    access.check(request.headers);
    if (url === null || request.method !== 'GET') throw new Refusal(404, 'no such route');
    if (head.length > 0) socket.unshift(head);
    const user = terminalUsers[url.pathname];
    if (user !== undefined) await terminals.serve(request, url.searchParams, user, socket);
    else if (url.pathname === '/v1/browser/cdp') await serveCdp(browser, request, url.searchParams, socket);
    else throw new Refusal(404, 'no such route');
  } catch (error) {
    const { status, message } = refusalOf(error, name, journal);
    const body = JSON.stringify({ error: message });
    socket.end(
      `HTTP/1.1 ${status} Refused\r\nconnection: close\r\nx-guestd-protocol: ${protocolVersion}\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  }
}

/** Joins the connection to Chromium's own port. */
async function serveCdp(
  browser: AgentBrowser,
  { headers }: IncomingMessage,
  query: URLSearchParams,
  socket: Duplex,
): Promise<void> {
  if (headers.upgrade !== 'lodge-cdp') throw new Refusal(400, 'upgrade must be lodge-cdp');
  const chromium = await browser.connect({ start: query.get('start') === 'true' });
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: lodge-cdp\r\nx-guestd-protocol: ${protocolVersion}\r\n\r\n`,
  );
  socket.on('data', () => browser.used());
  socket.on('close', () => chromium.destroy());
  chromium.on('close', () => socket.destroy());
  socket.pipe(chromium).pipe(socket);
}

/** The host sends its whole body before it listens: a reply that comes before that is lost with the connection. */
async function drain(request: IncomingMessage): Promise<void> {
  if (request.readableEnded || request.destroyed) return;
  await new Promise<void>((resolve) => {
    request.once('end', resolve);
    request.once('close', resolve);
    request.resume();
  });
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunksOf(request)) {
    length += chunk.length;
    if (length > maxJsonBytes) throw new Refusal(413, `the body may have at most ${maxJsonBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw new Refusal(400, 'the body must be JSON');
  }
}
