/**
 * Connections of a server, so that its end waits for requests and for nothing else. Node takes a connection without a whole
 * head for busy, and no longer looks at its bounds once the server closes: one that a client opened in reserve would hold the
 * server for as long as the client likes.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export class Connections {
  /** Requests under way on each connection; a client may send one before it has the reply to another. */
  readonly #underWay = new Map<Socket, number>();
  readonly #closing: AbortSignal | undefined;

  /** With the signal, connections without a request end at once, and the others as soon as they have none. */
  constructor(closing: AbortSignal | undefined) {
    this.#closing = closing;
    closing?.addEventListener('abort', () => {
      for (const [socket, requests] of this.#underWay) if (requests === 0) socket.destroy();
    });
  }

  watch(server: Server, isTls: boolean): void {
    server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
      if (this.#closing?.aborted) return void socket.destroy();
      this.#underWay.set(socket, 0);
      onClose(socket, () => this.#underWay.delete(socket));
    });
    // Whoever takes it ends it.
    server.on('upgrade', ({ socket }: IncomingMessage) => this.#underWay.delete(socket));
  }

  count({ socket }: IncomingMessage, response: ServerResponse): void {
    this.#add(socket, 1);
    onClose(response, () => {
      if (this.#add(socket, -1) === 0 && this.#closing?.aborted) socket.destroySoon();
    });
  }

  #add(socket: Socket, change: 1 | -1): number | undefined {
    const before = this.#underWay.get(socket);
    if (before === undefined) return undefined;
    this.#underWay.set(socket, before + change);
    return before + change;
  }
}

/** Listens on top of whoever serves the request, who has all the listeners that Node allows without a warning. */
function onClose(emitter: Socket | ServerResponse, listener: () => void): void {
  emitter.setMaxListeners(emitter.getMaxListeners() + 1);
  emitter.once('close', listener);
}
