/** A few handshakes at a time: each takes some 40 ms of the processor, and after an outage all connections come at once. */
export class Limiter {
  private readonly most: number;
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  constructor(most: number) {
    this.most = most;
  }

  /** Resolves when there is a place. Call what it gives when it is free again; twice is no matter. Rejects with the signal. */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.running >= this.most) await this.turn(signal);
    else this.running += 1;
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      // The place goes to the next one, or is free.
      const next = this.waiting.shift();
      if (next) next();
      else this.running -= 1;
    };
  }

  private async turn(signal: AbortSignal): Promise<void> {
    const turn = Promise.withResolvers<void>();
    const onTurn = (): void => turn.resolve();
    const onAbort = (): void => {
      const at = this.waiting.indexOf(onTurn);
      // A turn that came already has to be handed on by who waits: it resolves first.
      if (at === -1) return;
      this.waiting.splice(at, 1);
      turn.reject(signal.reason);
    };
    this.waiting.push(onTurn);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await turn.promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}
