import { untilAborted } from './commit.ts';

/** Lets so many through at once, in the order in which they came. For bursts: a thousand connections that open again. */
export class Gate {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(places: number) {
    this.free = places;
  }

  /** Rejects with the signal's reason when it is aborted before its turn. */
  async through<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.enter(signal);
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  private async enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.free > 0) {
      this.free -= 1;
      return;
    }
    const turn = Promise.withResolvers<void>();
    this.waiting.push(turn.resolve);
    try {
      await untilAborted(turn.promise, signal);
    } catch (error) {
      const at = this.waiting.indexOf(turn.resolve);
      if (at === -1) this.leave();
      else this.waiting.splice(at, 1);
      throw error;
    }
  }

  private leave(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.free += 1;
  }
}
