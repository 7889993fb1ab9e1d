/**
 * The LLM broker: an HTTP server that guests reach at a fixed address and that stands between them and the providers.
 *
 * It knows an agent by the source address of its VM, which the guest cannot forge; picks provider and model from the agent's
 * record; adds the agent's own key on the way out; passes the answer on as it comes; and writes one row a call. A guest
 * holds no key and names no provider. A caller that is no agent gets a 403 and learns nothing else.
 *
 * It owns the running calls and nothing that outlives them: a kill -9 leaves their rows open in the ledger.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Places, Shares, TokenBuckets, endStalledReply } from '@lodge/domain';
import { createOutbound } from '@lodge/egress';
import type { AgentDirectory, BrokerAgent, CallLedger, Log, PriceBook, Provider, SecretBox } from '@lodge/ports';
import { plainAddress } from './call/plain-address.ts';
import { CallError } from './call/call-error.ts';
import { Call } from './call/call.ts';
import type { CallDeps } from './call/call.ts';
import { defaultLimits } from './call/call-limits.ts';
import type { BrokerLimits } from './call/call-limits.ts';
import { AnswerReader } from './metering/answer-reader.ts';
import { Recorder } from './metering/recorder.ts';
import type { UnpricedModels } from './metering/recorder.ts';
import type { DearestPrices } from './prices/price-book.ts';
import { sendError } from './call/send-error.ts';
import { DoorKeeper } from './door.ts';
import type { Doors, GuestProxy } from './door.ts';
import { createTlsGuests, divertTls } from './secure.ts';
import type { TlsDoor, TlsGuests } from './secure.ts';
import { guestRequest, wireOf } from './wires/index.ts';

export interface BrokerOptions {
  readonly directory: AgentDirectory;
  readonly secrets: SecretBox;
  readonly ledger: CallLedger;
  /** Built-in ones and the operator's. */
  readonly providers: readonly Provider[];
  /** The provider of a bare model whose owner gave no key. */
  readonly defaultProvider?: string | null;
  /** HTTP proxy that public providers are reached through. */
  readonly egressProxy?: string | null;
  readonly log: Log;
  /** Default: no model has a known price. */
  readonly prices?: PriceBook & Partial<DearestPrices>;
  /**
   * How calls to models without a known price are treated if a spend limit holds: they are refused (default), or cost as
   * much as the dearest known.
   */
  readonly unpriced?: UnpricedModels;
  readonly limits?: Partial<BrokerLimits>;
  /** Called as each call of an agent begins; what it gives is called, once, when the call is over and recorded. */
  readonly keepAwake?: (agentId: string) => () => void;
  /** The services for guests beside models. */
  readonly doors?: Doors;
  /** Takes connections that begin with TLS; without it they are no HTTP. */
  readonly tlsDoor?: TlsDoor;
  /** Without it nothing is asked in absolute form, and there are no tunnels. */
  readonly proxy?: GuestProxy;
  /** Whether the host's disk has room for what is said in calls; without it always. */
  readonly hasRoom?: () => boolean;
}

export interface Broker {
  /** Begins to serve; rejects when the address cannot be bound. Resolves with the port, which matters where 0 was asked for. */
  listen(at: { readonly host: string; readonly port: number }): Promise<{ readonly port: number }>;
  /** Cuts the running calls, waits until they are recorded (some seconds at most), and frees the port. */
  close(): Promise<void>;
}

const closeWaitMs = 5000;

export function createBroker(options: BrokerOptions): Broker {
  const limits = { ...defaultLimits, ...options.limits };
  const recorder = new Recorder(
    options.ledger,
    options.prices ?? { price: () => null },
    options.unpriced ?? 'refuse',
    options.log,
  );
  const upstream = createOutbound(limits.connectMs, options.egressProxy ?? null);
  const reader = new AnswerReader();
  const keepAwake = options.keepAwake ?? (() => () => {});
  const doors = new DoorKeeper(options.doors ?? {}, keepAwake);
  const handler = new Handler(options.directory, keepAwake, doors, options.proxy ?? null, {
    catalogue: {
      providers: new Map(options.providers.map((provider) => [provider.id, provider])),
      defaultProvider: options.defaultProvider ?? null,
    },
    secrets: options.secrets,
    recorder,
    upstream,
    reader,
    slots: new Shares({
      perAgent: limits.callsPerAgent,
      perAccount: Math.max(limits.callsPerAgent, limits.callsPerAccount),
      inAll: limits.calls,
      few: limits.callsPerAgent,
    }),
    rate: new TokenBuckets({ perSecond: limits.callsPerAgentPerMinute / 60, burst: limits.callsPerAgentPerMinute / 4 }),
    bodies: new Shares({
      perAgent: limits.heldBytesPerAgent,
      perAccount: limits.heldBytesPerAccount,
      inAll: limits.heldBytes,
      few: limits.bodyBytes,
    }),
    bodyRate: new TokenBuckets({
      perSecond: limits.bytesPerAgentPerMinute / 60,
      burst: limits.bytesPerAgentPerMinute / 2,
    }),
    limits,
    hasRoom: options.hasRoom ?? (() => true),
    log: options.log,
  });
  const server = createHttpServer(limits, (req, res) => void handler.handle(req, res));
  const tlsGuests = alsoTakes(server, handler, options, limits.stalledMs, keepAwake);
  return {
    async listen({ host, port }) {
      server.listen(port, host);
      await once(server, 'listening');
      return { port: (server.address() as AddressInfo).port };
    },
    async close() {
      server.close();
      recorder.close();
      await Promise.all([handler.close(closeWaitMs), tlsGuests?.close()]);
      server.closeAllConnections();
      await upstream.close();
      await reader.close();
    },
  };
}

/** Has the server take tunnels and connections that begin with TLS, where there is somebody for them. */
function alsoTakes(
  server: Server,
  handler: Handler,
  { tlsDoor: door, proxy, log }: BrokerOptions,
  stalledMs: number,
  keepAwake: (agentId: string) => () => void,
): TlsGuests | undefined {
  if (proxy) server.on('connect', (req, socket, head) => void handler.tunnel(req, socket, head));
  if (!door) return undefined;
  const failed = (error: unknown): void => log.error({ err: error }, 'request to a host failed');
  const guests = createTlsGuests({ door, keepAwake, stalledMs, endsConnection, failed });
  divertTls(server, (socket) => void handler.secure(guests, socket));
  return guests;
}

function createHttpServer(limits: BrokerLimits, handle: (req: IncomingMessage, res: ServerResponse) => void): Server {
  const server = createServer(
    {
      requestTimeout: limits.requestMs,
      headersTimeout: Math.min(limits.requestMs, 10_000),
      connectionsCheckingInterval: Math.min(limits.requestMs / 2, 5000),
      keepAliveTimeout: 1000,
    },
    (req, res) => {
      endsConnection(req, res);
      endStalledReply(res, limits.stalledMs);
      handle(req, res);
    },
  );
  const connections = new Places({ perName: limits.connectionsPerAddress });
  server.on('connection', (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress);
    if (connections.take(address)) socket.on('close', () => connections.giveBack(address));
    else socket.destroy();
  });
  return server;
}

/**
 * A guest that was stopped and started again would send its next request on a connection that is gone, and some clients wait
 * long for the answer to that. Only a guest that is answered before it has said all keeps its connection, so that it gets to
 * read the answer.
 */
function endsConnection(req: IncomingMessage, res: ServerResponse): void {
  const end = (): void => void (res.shouldKeepAlive = false);
  const hasBody = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
  if (hasBody) req.once('end', end);
  else end();
}

class Handler {
  readonly #directory: AgentDirectory;
  readonly #keepAwake: (agentId: string) => () => void;
  readonly #deps: CallDeps;
  readonly #doors: DoorKeeper;
  readonly #proxy: GuestProxy | null;
  readonly #ending = new AbortController();
  readonly #running = new Map<Call, Promise<void>>();
  readonly #strangers = new TokenBuckets({ perSecond: 1, burst: 5 });

  constructor(
    directory: AgentDirectory,
    keepAwake: (agentId: string) => () => void,
    doors: DoorKeeper,
    proxy: GuestProxy | null,
    deps: CallDeps,
  ) {
    this.#directory = directory;
    this.#keepAwake = keepAwake;
    this.#doors = doors;
    this.#proxy = proxy;
    this.#deps = deps;
  }

  /** Never rejects. */
  async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    let wire = wireOf(req.url ?? '');
    try {
      const agent = await this.#identify(req.socket);
      if (this.#proxy && req.url?.startsWith('http://')) return await this.#request(this.#proxy, agent, req, res);
      const door = this.#doors.doorOf(req.url ?? '');
      if (door) return await this.#doors.enter(door, agent, req, res);
      const request = guestRequest(req.method, req.url ?? '');
      wire = request.wire;
      if (request.kind === 'models') {
        res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(request.models));
      } else if (request.kind === 'call') {
        await this.#run(agent.agentId, new Call(this.#deps, { ...request, agent, req, res }));
      } else {
        throw new CallError(`There is no such ${req.method} here.`, refusal(404, 'not_found', 'route_not_found'));
      }
    } catch (error) {
      if (!(error instanceof CallError)) this.#deps.log.error({ err: error }, 'broker request failed');
      const internal = (): CallError =>
        new CallError('Something went wrong.', refusal(500, 'server', 'internal_error'));
      if (res.headersSent) res.destroy();
      else sendError(req, res, wire, error instanceof CallError ? error : internal());
    }
  }

  async #request(proxy: GuestProxy, agent: BrokerAgent, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const left = new AbortController();
    res.once('close', () => left.abort());
    await proxy.request(agent, req, res, AbortSignal.any([left.signal, this.#ending.signal]));
  }

  /** Serves a connection that begins with TLS. Never rejects. */
  async secure(guests: TlsGuests, socket: Socket): Promise<void> {
    const end = (): void => void socket.destroy();
    socket.on('error', end);
    try {
      await guests.serve(await this.#identify(socket), socket);
    } catch {
      end();
    }
  }

  /** Never rejects. */
  async tunnel(req: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    client.on('error', () => client.destroy());
    try {
      const agent = await this.#identify(req.socket);
      await this.#proxy!.tunnel(agent, req.url ?? '', client, head, this.#ending.signal);
    } catch {
      client.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
    }
  }

  async #identify(socket: Socket): Promise<BrokerAgent> {
    const address = plainAddress(socket.remoteAddress);
    let agent: BrokerAgent | null;
    try {
      agent = await this.#directory.byAddress(address);
    } catch (error) {
      this.#deps.log.error({ err: error, address }, 'agent of an address not found out');
      throw new CallError('Model calls are not available right now.', {
        ...refusal(503, 'server', 'unavailable'),
        retryAfterSeconds: 2,
      });
    }
    if (agent) return agent;
    if (this.#strangers.allows(address, performance.now())) {
      this.#deps.log.warn({ address }, 'request to the broker from an address that is no agent');
    }
    throw new CallError('Not allowed.', refusal(403, 'permission', 'forbidden'));
  }

  async #run(agentId: string, call: Call): Promise<void> {
    const letGo = this.#keepAwake(agentId);
    const running = call.run();
    this.#running.set(call, running);
    await running;
    this.#running.delete(call);
    letGo();
  }

  /** Gives up all calls; resolves when they are over, or after `waitMs`. */
  async close(waitMs: number): Promise<void> {
    this.#ending.abort();
    for (const call of this.#running.keys()) call.shutDown();
    const wait = new AbortController();
    const tooLong = sleep(waitMs, undefined, { signal: wait.signal }).catch(() => {});
    await Promise.race([Promise.all([this.#doors.close(), ...this.#running.values()]), tooLong]);
    wait.abort();
  }
}

function refusal(status: number, kind: CallError['kind'], code: string) {
  return { status, kind, code, outcome: 'refused' } as const;
}
