import type { WebSocketLike } from '../../options.ts';

export interface TerminalEnd {
  /** Null where a signal ended the shell; missing where the connection ended first. */
  readonly exitCode?: number | null | undefined;
  readonly reason: string;
}

/** The service takes messages of up to 256 KiB. */
const maxMessageBytes = 64 * 1024;
/** Output that nobody reads. */
const maxUnreadBytes = 64 * 1024 * 1024;

/** A shell on an agent's machine. */
export class TerminalSession {
  /** Resolves once the shell or its connection has ended. */
  readonly closed: Promise<TerminalEnd>;
  /** Whether it was opened. */
  readonly opened: Promise<boolean>;
  readonly #socket: WebSocketLike;
  readonly #chunks: Uint8Array[] = [];
  #unreadBytes = 0;
  #wake: () => void = () => undefined;
  #exitCode: number | null | undefined;
  #isOver = false;

  constructor(socket: WebSocketLike) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }: { data: unknown }) => this.#take(data));
    this.opened = new Promise((resolve) => {
      socket.addEventListener('open', () => resolve(true));
      socket.addEventListener('error', () => resolve(false));
      socket.addEventListener('close', () => resolve(false));
    });
    this.closed = new Promise((resolve) => {
      const over = (reason: string): void => {
        this.#isOver = true;
        this.#wake();
        const exitCode = this.#exitCode;
        resolve({ ...(exitCode !== undefined && { exitCode }), reason });
      };
      socket.addEventListener('error', () => over('the connection broke'));
      socket.addEventListener('close', ({ reason }: { reason?: string }) => over(reason || 'the connection ended'));
    });
  }

  /** Types this. */
  write(data: string | Uint8Array): void {
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
    for (let at = 0; at < bytes.length; at += maxMessageBytes) {
      this.#socket.send(bytes.slice(at, at + maxMessageBytes));
    }
  }

  resize(cols: number, rows: number): void {
    this.#socket.send(JSON.stringify({ type: 'resize', cols, rows }));
  }

  /** Ends the shell with all that runs in it. */
  close(): void {
    this.#socket.close();
  }

  /** The output as it comes, until the end. It can be read once. */
  get output(): AsyncIterable<Uint8Array> {
    return this.#output();
  }

  async *#output(): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      for (let chunk = this.#chunks.shift(); chunk !== undefined; chunk = this.#chunks.shift()) {
        this.#unreadBytes -= chunk.length;
        yield chunk;
      }
      if (this.#isOver) return;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #take(data: unknown): void {
    if (typeof data === 'string') {
      const told = parsed(data);
      if (told?.type === 'exit') this.#exitCode = told.exit_code ?? null;
      return;
    }
    const chunk = new Uint8Array(data as ArrayBuffer);
    this.#unreadBytes += chunk.length;
    if (this.#unreadBytes > maxUnreadBytes) return this.close();
    this.#chunks.push(chunk);
    this.#wake();
  }
}

function parsed(text: string): { readonly type?: unknown; readonly exit_code?: number | null } | null {
  try {
    return JSON.parse(text) as { type?: unknown };
  } catch {
    return null;
  }
}
