import { ConnectionError, TimeoutError } from '../errors.ts';

/** One try of a request. It ends by its caller's signal, and when no byte came for too long. */
export class Attempt {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #timeoutMs: number;
  #touchedAt = performance.now();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasTimedOut = false;

  constructor(timeoutMs: number, outer?: AbortSignal) {
    outer?.throwIfAborted();
    this.#timeoutMs = timeoutMs;
    this.#outer = outer;
    outer?.addEventListener('abort', this.#abort);
    this.#watch(timeoutMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** A byte has come, or has gone out. */
  touch(): void {
    this.#touchedAt = performance.now();
  }

  /** Nothing is left to wait for. With `cut`, what is under way is broken off. */
  end(cut = false): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#abort);
    if (cut) this.#controller.abort();
  }

  /** The error to throw for one that the platform threw. */
  errorOf(cause: unknown): unknown {
    if (this.#outer?.aborted) return this.#outer.reason;
    if (this.#hasTimedOut) return new TimeoutError(`The server sent nothing for ${this.#timeoutMs} ms.`);
    const codes = codesOf(cause);
    if (codes.some((code) => platformTimeouts.has(code))) {
      return new TimeoutError('The server sent nothing for as long as this platform waits.', { cause });
    }
    const mayHaveBeenSent = !codes.some((code) => unsent.has(code));
    const why = codes[0] ?? (cause instanceof Error ? cause.message : String(cause));
    const words = mayHaveBeenSent ? 'The connection to the server broke' : 'The server cannot be reached';
    return new ConnectionError(`${words} (${why}).`, { cause, mayHaveBeenSent });
  }

  readonly #abort = (): void => {
    clearTimeout(this.#timer);
    this.#controller.abort(this.#outer?.reason);
  };

  #watch(ms: number): void {
    this.#timer = setTimeout(() => {
      const leftMs = this.#touchedAt + this.#timeoutMs - performance.now();
      if (leftMs > 0) return this.#watch(leftMs);
      this.#hasTimedOut = true;
      this.#controller.abort(new TimeoutError('timeout'));
    }, ms);
  }
}

const platformTimeouts: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
/** Node's and Bun's codes for a connection that never was. */
const unsent: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'ConnectionRefused',
  'FailedToOpenSocket',
]);

/** Codes of an error and its causes. Deno says in words what it has no code for. */
function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  let each: unknown = error;
  for (let depth = 0; depth < 5 && each instanceof Error; depth += 1) {
    const { code, errors } = each as { code?: unknown; errors?: readonly unknown[] };
    if (typeof code === 'string') codes.push(code);
    if (each.message.includes('Connection refused')) codes.push('ECONNREFUSED');
    each = each.cause ?? errors?.[0];
  }
  return codes;
}
