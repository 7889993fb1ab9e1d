/**
 * The name server of guests with an allow list, at the broker's address. It identifies a guest by its source address, which
 * the guest cannot forge. It asks the host's name servers only for allowed names, and every answered address is first pinned
 * in the guest's firewall (`Lookups`).
 *
 * Its input is hostile: a packet is bounded before it is read, and each guest's firewall bounds its packets a second before
 * they come here. While this process is down, or does not know a guest's rules yet, no name is found and nothing opens.
 */
import { type Socket as Datagrams, createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type Server, type Socket, createServer } from 'node:net';
import { Places } from '@lodge/domain';
import type { Lookups } from './lookups.ts';
import { mostQuestionBytes, readQuestion, writeReply } from './message.ts';

/** A connection has one question, so it is short. */
const connectionTimeoutMs = 5000;
const mostConnections = 256;
const mostConnectionsOfGuest = 8;

export class NameResolver {
  private readonly lookupsOf: (address: string) => Lookups | null;
  private readonly connections = new Places({ perName: mostConnectionsOfGuest });
  private datagrams: Datagrams | null = null;
  private server: Server | null = null;

  /** `lookupsOf` returns the guest with this source address, or null. */
  constructor(lookupsOf: (address: string) => Lookups | null) {
    this.lookupsOf = lookupsOf;
  }

  /** Listens. Succeeds if it listens already. */
  async start(address: string, port: number): Promise<void> {
    if (this.server !== null) return;
    const datagrams = createSocket({ type: 'udp4' });
    const server = createServer({ noDelay: true }, (socket) => void this.onConnection(socket));
    server.maxConnections = mostConnections;
    datagrams.on('message', (packet, { address: from, port: fromPort }) => {
      void this.reply(packet, from).then((reply) => {
        if (reply && this.datagrams === datagrams) datagrams.send(reply, fromPort, from, () => undefined);
      });
    });
    try {
      datagrams.bind({ port, address, exclusive: true });
      await once(datagrams, 'listening');
      await once(server.listen({ port, host: address, exclusive: true }), 'listening');
    } catch (error) {
      datagrams.close();
      server.close();
      const why = `The guests' names are looked up at ${address}:${port}, which cannot be listened on`;
      throw new Error(`${why}: ${(error as Error).message}`, { cause: error });
    }
    datagrams.on('error', () => undefined);
    server.on('error', () => undefined);
    // The sockets must not keep the process alive.
    datagrams.unref();
    server.unref();
    this.datagrams = datagrams;
    this.server = server;
  }

  stop(): void {
    this.datagrams?.close();
    this.server?.close();
    this.datagrams = null;
    this.server = null;
  }

  private async reply(packet: Buffer, from: string): Promise<Buffer | null> {
    const lookups = this.lookupsOf(from);
    const question = lookups === null ? null : readQuestion(packet);
    if (lookups === null || question === null) return null;
    const reply = await lookups.answer(question);
    return reply && writeReply(question, reply.rcode, reply.addresses);
  }

  /** Two bytes of length, a question; the same for the reply; the end. */
  private async onConnection(socket: Socket): Promise<void> {
    const from = socket.remoteAddress ?? '';
    socket.on('error', () => undefined);
    if (this.lookupsOf(from) === null || !this.connections.take(from)) {
      socket.destroy();
      return;
    }
    socket.on('close', () => this.connections.giveBack(from));
    const timer = setTimeout(() => socket.destroy(), connectionTimeoutMs).unref();
    socket.on('close', () => clearTimeout(timer));
    const packet = await firstMessage(socket);
    const reply = packet && (await this.reply(packet, from));
    if (!reply) {
      socket.destroy();
      return;
    }
    const length = Buffer.alloc(2);
    length.writeUInt16BE(reply.length, 0);
    socket.end(Buffer.concat([length, reply]));
  }
}

/** Returns null when the message is too long, or does not arrive whole. */
function firstMessage(socket: Socket): Promise<Buffer | null> {
  return new Promise((resolve) => {
    let received = Buffer.alloc(0);
    socket.on('close', () => resolve(null));
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk.subarray(0, mostQuestionBytes + 2)]);
      const length = received.length < 2 ? null : received.readUInt16BE(0);
      if (received.length > mostQuestionBytes + 2 || (length !== null && length > mostQuestionBytes)) resolve(null);
      else if (length !== null && received.length >= length + 2) {
        socket.pause();
        resolve(received.subarray(2, length + 2));
      }
    });
  });
}
