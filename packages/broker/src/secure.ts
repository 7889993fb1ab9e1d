/**
 * Connections of guests that begin with TLS come to the same port as others: the first byte tells them apart. A door ends TLS,
 * and their requests are bounded like those of other doors, in numbers of their own.
 */
import { ServerResponse, createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { endStalledReply } from '@lodge/domain';
import type { BrokerAgent } from '@lodge/ports';
import { sendError } from './call/send-error.ts';
import { CallError } from './call/call-error.ts';
import { DoorKeeper } from './door.ts';
import type { Door, DoorGuest } from './door.ts';
import { wireOf } from './wires/index.ts';

/** A door for connections that begin with TLS. */
export interface TlsDoor extends Door {
  /** Ends TLS. Rejects, with the socket destroyed, when the guest is not let in. */
  secure(guest: DoorGuest, socket: Socket): Promise<TLSSocket>;
}

/** A record of a handshake (RFC 8446, 5.1). No method of HTTP begins with it. */
const handshake = 0x16;
/** The form of refusals. */
const plainWire = wireOf('/');
const firstByteMs = 10_000;
/** Longest time of a connection, and of its silence before its first request. */
const lifeMs = 30 * 60_000;
const silenceMs = 2 * 60_000;
/** Longest silence of a WebSocket. */
const openSilenceMs = 10 * 60_000;
/** Time for a whole request. Bodies pass while they come, as fast as the service takes them. */
const requestMs = 15 * 60_000;
/** Programs such as npm ask for many things at once. */
const places = { perAgent: 24, perAccount: 96, inAll: 384, few: 4 };
const rate = { perSecond: 20, burst: 400 };

/** Has `secure` take the connections of a server that begin with TLS. The others go on as before. */
export function divertTls(server: Server, secure: (socket: Socket) => void): void {
  const plain = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const end = (): void => void socket.destroy();
    const timer = setTimeout(end, firstByteMs);
    socket.on('error', end);
    socket.once('close', () => clearTimeout(timer));
    socket.once('readable', () => {
      clearTimeout(timer);
      const first = socket.read(1) as Buffer | null;
      if (first !== null) socket.unshift(first);
      socket.off('error', end);
      if (first?.[0] === handshake) secure(socket);
      else for (const listener of plain) listener.call(server, socket);
    });
  });
}

export interface TlsGuests {
  /** Serves a connection of this agent. Never rejects. */
  serve(agent: BrokerAgent, socket: Socket): Promise<void>;
  close(): Promise<void>;
}

interface Needs {
  readonly door: TlsDoor;
  readonly keepAwake: (agentId: string) => () => void;
  readonly stalledMs: number;
  readonly endsConnection: (req: IncomingMessage, res: ServerResponse) => void;
  readonly failed: (error: unknown) => void;
}

export function createTlsGuests({ door, keepAwake, stalledMs, endsConnection, failed }: Needs): TlsGuests {
  const keeper = new DoorKeeper({}, keepAwake, { places, rate });
  const agents = new WeakMap<Socket, BrokerAgent>();
  const open = new Set<Socket>();
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    try {
      await keeper.enter(door, agents.get(req.socket)!, req, res);
    } catch (error) {
      if (!(error instanceof CallError)) failed(error);
      const internal = { status: 500, kind: 'server', code: 'internal_error', outcome: 'refused' } as const;
      if (res.headersSent) res.destroy();
      else
        sendError(
          req,
          res,
          plainWire,
          error instanceof CallError ? error : new CallError('Something went wrong.', internal),
        );
    }
  };
  const server = createServer({ requestTimeout: requestMs, headersTimeout: firstByteMs }, (req, res) => {
    endsConnection(req, res);
    // A request is bounded by its door, also while it waits for a yes.
    req.socket.setTimeout(0);
    endStalledReply(res, stalledMs);
    void answer(req, res);
  });
  // A door that opens no WebSocket answers as any other request.
  server.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) => {
    if (head.length > 0) socket.unshift(head);
    socket.on('error', () => socket.destroy());
    socket.setTimeout(openSilenceMs);
    const res = new ServerResponse(req);
    res.shouldKeepAlive = false;
    res.assignSocket(socket);
    res.once('finish', () => socket.end());
    void answer(req, res);
  });
  return {
    async serve(agent, socket) {
      open.add(socket);
      const end = (): void => void socket.destroy();
      const life = setTimeout(end, lifeMs);
      socket.once('close', () => {
        clearTimeout(life);
        open.delete(socket);
      });
      try {
        const plain = await door.secure(agent, socket);
        plain.setTimeout(silenceMs, end);
        agents.set(plain, agent);
        server.emit('connection', plain);
      } catch {
        end();
      }
    },
    async close() {
      for (const socket of open) socket.destroy();
      await keeper.close();
    },
  };
}
