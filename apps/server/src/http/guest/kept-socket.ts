/**
 * A client's WebSocket and what ends it, whatever it carries: silence for too long, a client that no longer answers, the end
 * of its key or session, and the end of the server.
 */
import type { WebSocket } from 'ws';

const pingEveryMs = 20_000;
/** Time for the client's own close frame after the server's. */
const closeMs = 2_000;

export interface KeptOptions {
  /** Time without `rest` after which the socket is closed. */
  readonly idleMs: number;
  readonly idleWords: string;
  readonly closing: AbortSignal;
  /** Aborts when the key or session that opened it is no longer valid. */
  readonly ended: AbortSignal;
}

export class KeptSocket {
  readonly socket: WebSocket;
  private readonly options: KeptOptions;
  private readonly pings: NodeJS.Timeout;
  private idle: NodeJS.Timeout | undefined;
  private isAnswered = true;

  /** Calls `over` once, when the socket is closed. */
  constructor(socket: WebSocket, options: KeptOptions, over: () => void) {
    this.socket = socket;
    this.options = options;
    this.pings = setInterval(() => this.ping(), pingEveryMs);
    const { closing, ended } = options;
    const shutDown = (): void => this.shut(1001, 'the service is restarting');
    const shutOut = (): void => this.shut(1008, 'the API key or session holds no more');
    closing.addEventListener('abort', shutDown);
    ended.addEventListener('abort', shutOut);
    socket.on('pong', () => (this.isAnswered = true));
    socket.on('error', () => socket.terminate());
    socket.once('close', () => {
      closing.removeEventListener('abort', shutDown);
      ended.removeEventListener('abort', shutOut);
      clearInterval(this.pings);
      clearTimeout(this.idle);
      over();
    });
    this.rest();
    if (closing.aborted) shutDown();
    if (ended.aborted) shutOut();
  }

  /** Restarts the time of silence. */
  rest(): void {
    clearTimeout(this.idle);
    const { idleMs, idleWords } = this.options;
    this.idle = setTimeout(() => this.shut(1000, idleWords), idleMs);
  }

  shut(code: number, why: string): void {
    this.socket.close(code, why);
    setTimeout(() => this.socket.terminate(), closeMs).unref();
  }

  private ping(): void {
    // Its answers are not read while the other side accepts nothing.
    if (!this.isAnswered && !this.socket.isPaused) {
      this.socket.terminate();
      return;
    }
    this.isAnswered = false;
    this.socket.ping();
  }
}
