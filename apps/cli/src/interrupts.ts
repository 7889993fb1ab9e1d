/** Ctrl-C: ends what the command began, by the signal that every call has. A second one ends the process. */
import { exitCodes } from './failure.ts';

export class Interrupts {
  readonly #controller = new AbortController();
  readonly #handlers: (() => void)[] = [];

  /** Aborts when the command is interrupted. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Takes up SIGINT and SIGTERM of this process. */
  listen(): void {
    process.on('SIGINT', () => this.interrupt());
    process.on('SIGTERM', () => this.interrupt());
  }

  interrupt(): void {
    const handler = this.#handlers.at(-1);
    if (handler) return handler();
    if (this.signal.aborted) process.exit(exitCodes.interrupted);
    this.#controller.abort();
  }

  /** Calls the handler instead while the work is under way, such as to end a turn and not the conversation. */
  async during<T>(handler: () => void, work: () => Promise<T>): Promise<T> {
    this.#handlers.push(handler);
    try {
      return await work();
    } finally {
      this.#handlers.splice(this.#handlers.lastIndexOf(handler), 1);
    }
  }
}
