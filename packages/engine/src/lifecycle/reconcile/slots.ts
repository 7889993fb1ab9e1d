/** Work of which only so much is done at a time; the rest waits in order. */
export class Slots {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(count: number) {
    this.free = count;
  }

  /** Rejects with the signal's reason when that fires before there is a slot. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.take(signal);
    try {
      return await work();
    } finally {
      this.giveBack();
    }
  }

  private async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.free > 0) {
      this.free -= 1;
      return;
    }
    const turn = Promise.withResolvers<void>();
    const abort = (): void => {
      const index = this.waiting.indexOf(turn.resolve);
      // Not there any more: the slot is handed over already, and is given back by `run`.
      if (index < 0) return;
      this.waiting.splice(index, 1);
      turn.reject(signal.reason);
    };
    this.waiting.push(turn.resolve);
    signal.addEventListener('abort', abort, { once: true });
    try {
      await turn.promise;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  private giveBack(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.free += 1;
  }
}
