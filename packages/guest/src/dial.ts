import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A TCP connection, whichever way it goes. */
interface Connection extends Duplex {
  setTimeout(ms: number, silent?: () => void): this;
}

/** Connects to a TCP port of one guest. */
export type Dial = (port: number, signal: AbortSignal) => Promise<Connection>;

/** Longest wait for a connection. Callers that know more bound it closer. */
const timeoutMs = 60_000;
/** Time until a connection without its other end is noticed. */
const keepAliveMs = 15_000;

/** Dials a guest that this process reaches at an IP address. Only a driver knows which guests are reached so. */
export function dialTo(address: string): (port: number, signal: AbortSignal) => Promise<Socket> {
  return async (port, signal) => {
    signal.throwIfAborted();
    const kept = { keepAlive: true, keepAliveInitialDelay: keepAliveMs };
    const socket = connect({ host: address, port, noDelay: true, ...kept });
    const late = (): unknown => socket.destroy(new Error(`no connection within ${timeoutMs} ms`));
    socket.setTimeout(timeoutMs, late);
    // Its close says so too.
    socket.on('error', () => undefined);
    try {
      await once(socket, 'connect', { signal });
    } catch (error) {
      socket.destroy();
      throw error;
    }
    return socket.setTimeout(0, late);
  };
}
