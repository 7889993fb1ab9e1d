/** Calls that wait in their turns for a decision. A notification wakes them, whichever server wrote the decision. */

export interface Waiting {
  /** Resolves after a change of the confirmation, after `ms`, or when `signal` aborts. */
  next(ms: number, signal: AbortSignal): Promise<void>;
  end(): void;
}

export class WaitingCalls {
  private readonly wakers = new Map<string, () => void>();

  constructor(onChange: (listener: (id: string | null) => void) => unknown) {
    onChange((id) => {
      if (id !== null) this.wakers.get(id)?.();
      else for (const wake of this.wakers.values()) wake();
    });
  }

  /** A change is missed by nobody who reads the row after this. */
  begin(id: string): Waiting {
    let changed = Promise.withResolvers<void>();
    this.wakers.set(id, () => changed.resolve());
    return {
      async next(ms, signal) {
        const over = Promise.withResolvers<void>();
        const leave = (): void => over.resolve();
        const timer = setTimeout(leave, ms);
        signal.addEventListener('abort', leave);
        if (signal.aborted) leave();
        await Promise.race([changed.promise, over.promise]);
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        changed = Promise.withResolvers<void>();
      },
      end: () => void this.wakers.delete(id),
    };
  }
}
