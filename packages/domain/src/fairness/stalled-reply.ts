/** The parts of a Node.js server's reply that matter here. */
interface Reply {
  /** Bytes that wait in the reply itself for its turn on the connection. */
  readonly writableLength: number;
  readonly req: { readonly socket: Connection };
  once(event: 'close', listener: () => void): unknown;
}

interface Connection {
  /** Waiting bytes, the current write included. */
  readonly writableLength: number;
  destroy(): unknown;
}

/** Number of checks in the longest time that a reply may stall. */
const looks = 4;

/**
 * Destroys the connection of a reply whose client takes none of its bytes for `ms` milliseconds, or up to a quarter longer.
 * Otherwise the memory of unread replies would be unbounded. A reply with nothing to send, such as a silent stream, is left
 * alone, and so is a slow client that takes a little. Call it once for each reply, before its first byte.
 */
export function endStalledReply(reply: Reply, ms: number): void {
  const { socket } = reply.req;
  let before = progressOf(socket);
  let stillSince = performance.now();
  const timer = setInterval(() => {
    const now = progressOf(socket);
    const isWaiting = reply.writableLength > 0 || socket.writableLength > 0;
    if (!isWaiting || now !== before) {
      before = now;
      stillSince = performance.now();
    } else if (performance.now() - stillSince >= ms) {
      clearInterval(timer);
      socket.destroy();
    }
  }, ms / looks);
  // A server that ends does not wait for this timer.
  (timer as { unref?: () => void }).unref?.();
  reply.once('close', () => clearInterval(timer));
}

/**
 * Returns a value that changes with each byte that the client takes, and with nothing else. Bytes that the server queues
 * meanwhile change neither number of the handle. Within one write, which may be a reply of megabytes, only the handle's
 * queue shows progress; Node.js checks it too before it calls a socket idle. The socket's own counts do not serve, because
 * for text one is in bytes and the other in characters.
 */
function progressOf(socket: Connection): string {
  const { _handle: handle } = socket as {
    readonly _handle?: { readonly bytesWritten?: number; readonly writeQueueSize?: number } | null;
  };
  return `${handle?.bytesWritten ?? 0}/${handle?.writeQueueSize ?? 0}`;
}
