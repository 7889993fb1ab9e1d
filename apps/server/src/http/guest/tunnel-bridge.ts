/**
 * Connects a client's WebSocket with a TCP port in a guest: bytes both ways, each way as slow as its reader. Each side may
 * end its own way first (`{"type":"end"}` is TCP's FIN), and gets what the other still sends. It is over when both have
 * ended, when the guest's connection breaks, or when the socket closes (`KeptSocket`). Then both are closed, once.
 */
import { Refusal } from '@lodge/domain';
import type { GuestAddress, GuestConnection } from '@lodge/ports';
import type { RawData, WebSocket } from 'ws';
import { KeptSocket } from './kept-socket.ts';
import type { KeptOptions } from './kept-socket.ts';

/** The subprotocol that a client offers beside its key if it can set no header. */
export const tunnelProtocol = 'lodge.tunnel';

/** A guest is a hop away: it accepts a connection at once or not at all. */
const connectTimeoutMs = 5_000;
/** Bytes on their way to a client that reads slowly. */
const maxUnsentBytes = 1024 * 1024;
/** Time for a guest to take what its client sent last. */
const lastMs = 10_000;

const endMessage = JSON.stringify({ type: 'end' });

export class TunnelBridge {
  private readonly guest: GuestConnection;
  private kept: KeptSocket | null = null;

  private constructor(guest: GuestConnection) {
    this.guest = guest;
  }

  /** Connects to a port in a guest. Refuses when nothing listens there. */
  static async to({ dial }: Pick<GuestAddress, 'dial'>, port: number, signal: AbortSignal): Promise<TunnelBridge> {
    try {
      const socket = await dial(port, AbortSignal.any([signal, AbortSignal.timeout(connectTimeoutMs)]));
      socket.allowHalfOpen = true;
      // Its close says so too.
      socket.on('error', () => undefined);
      return new TunnelBridge(socket);
    } catch (cause) {
      signal.throwIfAborted();
      throw new Refusal('agent_unavailable', `Nothing answers at port ${port} of the agent at the moment.`, { cause });
    }
  }

  /** Ends the connection of a client that never came. */
  close(): void {
    this.guest.destroy();
  }

  /** Calls `over` once, when nothing is left of either side. */
  run(socket: WebSocket, options: KeptOptions, over: () => void): void {
    const { guest } = this;
    const kept = new KeptSocket(socket, options, () => {
      guest.destroySoon();
      setTimeout(() => guest.destroy(), lastMs).unref();
      over();
    });
    this.kept = kept;
    socket.on('message', (data, isBinary) => this.take(data, isBinary));
    guest.on('drain', () => socket.resume());
    guest.on('data', (chunk: Buffer) => this.give(chunk));
    // The close waits until all that the guest has sent is on its way: a socket that is being closed waits for nobody.
    const told = new Promise<void>((resolve) => {
      guest.on('end', () => socket.send(endMessage, () => resolve()));
    });
    guest.on('close', (hasFailed: boolean) => {
      if (hasFailed || !guest.readableEnded) kept.shut(1011, 'the connection in the agent broke');
      else void told.then(() => kept.shut(1000, 'both sides have ended'));
    });
    if (guest.destroyed) kept.shut(1011, 'the connection in the agent broke');
  }

  /** Ends the tunnel, because the agent is not what it was. */
  end(why: string): void {
    this.kept?.shut(1011, why);
  }

  private give(chunk: Buffer): void {
    const { guest } = this;
    const { socket } = this.kept!;
    this.kept!.rest();
    socket.send(chunk, { binary: true }, () => {
      if (socket.bufferedAmount < maxUnsentBytes) guest.resume();
    });
    if (socket.bufferedAmount >= maxUnsentBytes) guest.pause();
  }

  private take(data: RawData, isBinary: boolean): void {
    const { guest, kept } = this;
    kept!.rest();
    const bytes = data as Buffer;
    if (isBinary) {
      // Bytes behind the client's own end belong to nobody.
      if (!guest.writableEnded && !guest.write(bytes)) kept!.socket.pause();
    } else if (bytes.toString() === endMessage) guest.end();
    else kept!.shut(1007, 'not a message of a tunnel');
  }
}
