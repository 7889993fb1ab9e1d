/**
 * Turns at the database for claims of Idempotency-Keys. Claims of one account wait there for one another's commit, each with a
 * connection of the pool, which is first come, first served: a flood of them would hold up everybody. So an account has two at
 * once, all accounts together leave connections for other work, and accounts that wait take turns.
 */
import { Shares } from '@lodge/domain';
import type { Holder } from '@lodge/domain';
import { DatabaseBusyError } from '@lodge/ports';

/** Of the pool's ten connections. */
const places = { perAgent: 2, perAccount: 2, inAll: 6, few: 1 };
/** Of requests that were not begun. */
const waiters = { perAgent: 500, perAccount: 500, inAll: 2_000, few: 50 };

export class ClaimTurns {
  readonly #places = new Shares(places);
  readonly #waiters = new Shares(waiters);
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Does the work of a request that was not begun. Rejects with `DatabaseBusyError` where too many wait. */
  async begin<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    const holder = holderOf(accountId);
    if (!this.#takePlace(holder)) {
      if (!this.#waiters.take(holder, 1)) throw new DatabaseBusyError();
      await this.#turn(accountId);
      this.#waiters.giveBack(holder, 1);
    }
    return this.#run(holder, work);
  }

  /** Does the work of one that was begun, and so has been counted. */
  async end<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    const holder = holderOf(accountId);
    if (!this.#takePlace(holder)) await this.#turn(accountId);
    return this.#run(holder, work);
  }

  /** In its place. */
  async #run<T>(holder: Holder, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      this.#places.giveBack(holder, 1);
      this.#wake();
    }
  }

  #takePlace(holder: Holder): boolean {
    return !this.#waiting.has(holder.accountId) && this.#places.take(holder, 1);
  }

  /** Resolves with a place. */
  #turn(accountId: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const queue = this.#waiting.get(accountId);
    if (queue) queue.push(resolve);
    else this.#waiting.set(accountId, [resolve]);
    return promise;
  }

  /** The account that has waited longest comes first, and goes to the end, where this comes by again, when more of it waits. */
  #wake(): void {
    for (const [accountId, queue] of this.#waiting) {
      if (!this.#places.take(holderOf(accountId), 1)) continue;
      this.#waiting.delete(accountId);
      queue.shift()!();
      if (queue.length > 0) this.#waiting.set(accountId, queue);
    }
  }
}

const holderOf = (accountId: string): Holder => ({ agentId: accountId, accountId });
