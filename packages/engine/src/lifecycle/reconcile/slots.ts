import { Shares } from '@lodge/domain';
import type { Holder, ShareBounds } from '@lodge/domain';

/** Of so many slots in all, so many for one account; the last quarter is for accounts that hold no more than `few`. */
export type SlotBounds = Pick<ShareBounds, 'inAll' | 'perAccount' | 'few'>;

interface Waiting {
  readonly holder: Holder;
  readonly goAhead: () => void;
}

/**
 * Work of which only so much is done at a time, in all and for one account. Accounts whose work waits take turns, however much of it
 * each has; the work of one account is done in order.
 */
export class Slots {
  private readonly shares: Shares;
  private readonly waiting = new Map<string, Waiting[]>();

  constructor(bounds: SlotBounds) {
    this.shares = new Shares({ ...bounds, perAgent: bounds.perAccount });
  }

  /** Rejects with the signal's reason when that fires before there is a slot. */
  async run<T>(holder: Holder, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.take(holder, signal);
    try {
      return await work();
    } finally {
      this.shares.giveBack(holder, 1);
      this.pump();
    }
  }

  private async take(holder: Holder, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { accountId } = holder;
    const line = this.waiting.get(accountId);
    if (!line && this.shares.take(holder, 1)) return;
    const turn = Promise.withResolvers<void>();
    const own = { holder, goAhead: turn.resolve };
    if (line) line.push(own);
    else this.waiting.set(accountId, [own]);
    const abort = (): void => {
      // Not there any more: the slot is handed over already, and is given back by `run`.
      if (this.leave(own)) turn.reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    try {
      await turn.promise;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Hands out what is free, in the order of turns. An account that has had one comes again behind all others. */
  private pump(): void {
    for (const [accountId, line] of this.waiting) {
      const [next] = line as [Waiting];
      if (!this.shares.take(next.holder, 1)) continue;
      this.leave(next);
      const left = this.waiting.get(accountId);
      if (left) {
        this.waiting.delete(accountId);
        this.waiting.set(accountId, left);
      }
      next.goAhead();
    }
  }

  /** False where it does not wait. */
  private leave(own: Waiting): boolean {
    const { accountId } = own.holder;
    const line = this.waiting.get(accountId);
    const index = line?.indexOf(own) ?? -1;
    if (index < 0) return false;
    line!.splice(index, 1);
    if (line!.length === 0) this.waiting.delete(accountId);
    return true;
  }
}
