import type { WebSocketLike } from '../../options.ts';

/** The service takes messages of up to 1 MiB. */
const maxMessageBytes = 256 * 1024;
/** Bytes that wait to go out, past which `write` waits. */
const maxUnsentBytes = 1024 * 1024;
/** Bytes that nobody has read, past which a socket that can wait does, and then those past which it is given up. */
const pauseBytes = 1024 * 1024;
const maxUnreadBytes = 64 * 1024 * 1024;
const endMessage = '{"type":"end"}';

/** The package ws can stop reading; the platforms' own cannot. */
type Pausable = WebSocketLike & { pause?(): void; resume?(): void };

export interface TunnelEnd {
  /** Whether both sides had ended before. */
  readonly isWhole: boolean;
  readonly reason: string;
}

/** A connection to a TCP port of an agent. */
export class TunnelSession {
  /** Resolves once the connection has ended. */
  readonly closed: Promise<TunnelEnd>;
  /** Whether it was opened. */
  readonly opened: Promise<boolean>;
  readonly #socket: Pausable;
  readonly #chunks: Uint8Array[] = [];
  #unreadBytes = 0;
  #wake: () => void = () => undefined;
  #hasEnded = false;

  constructor(socket: WebSocketLike) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }: { data: unknown }) => this.#take(data));
    this.opened = new Promise((resolve) => {
      socket.addEventListener('open', () => resolve(true));
      for (const end of ['error', 'close'] as const) socket.addEventListener(end, () => resolve(false));
    });
    this.closed = new Promise((resolve) => {
      const over = (code: number | undefined, reason: string): void => {
        this.#end();
        resolve({ isWhole: code === 1000, reason });
      };
      socket.addEventListener('error', () => over(undefined, 'the connection broke'));
      socket.addEventListener('close', (event: { code?: number; reason?: string }) => {
        over(event.code, event.reason || 'the connection ended');
      });
    });
  }

  /** Sends bytes, and resolves when more can be sent. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += maxMessageBytes) {
      this.#socket.send(bytes.slice(at, at + maxMessageBytes));
      while (this.#socket.bufferedAmount > maxUnsentBytes && !this.#isClosed) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  }

  /** Says that no more is sent; what the agent still sends is read on. */
  end(): void {
    this.#socket.send(endMessage);
  }

  /** Ends both directions at once. */
  close(): void {
    this.#socket.close();
  }

  /** The bytes as they come, until the agent's side has ended. They can be read once. */
  get input(): AsyncIterable<Uint8Array> {
    return this.#input();
  }

  get #isClosed(): boolean {
    return this.#socket.readyState > 1;
  }

  async *#input(): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      for (let chunk = this.#chunks.shift(); chunk !== undefined; chunk = this.#chunks.shift()) {
        this.#unreadBytes -= chunk.length;
        if (this.#unreadBytes < pauseBytes) this.#socket.resume?.();
        yield chunk;
      }
      if (this.#hasEnded) return;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #take(data: unknown): void {
    if (typeof data === 'string') {
      if (data === endMessage) this.#end();
      return;
    }
    const chunk = new Uint8Array(data as ArrayBuffer);
    this.#unreadBytes += chunk.length;
    if (this.#unreadBytes > maxUnreadBytes) return this.close();
    if (this.#unreadBytes >= pauseBytes) this.#socket.pause?.();
    this.#chunks.push(chunk);
    this.#wake();
  }

  #end(): void {
    this.#hasEnded = true;
    this.#wake();
  }
}
