import { ApiError } from '../errors.ts';

/** Open log streams, bounded: each costs a connection and a query whenever its agent's log grows. */
export class Followers {
  readonly #mostPerAccount: number;
  readonly #most: number;
  readonly #byAccount = new Map<string, number>();
  #all = 0;

  constructor(mostPerAccount = 50, most = 2_500) {
    this.#mostPerAccount = mostPerAccount;
    this.#most = most;
  }

  /** Takes a place, or refuses with 429. Gives what frees it. */
  join(accountId: string): () => void {
    const own = this.#byAccount.get(accountId) ?? 0;
    if (own >= this.#mostPerAccount || this.#all >= this.#most) {
      throw new ApiError(
        'rate_limit_exceeded',
        'Too many log streams are open at once. Close one, or read pages instead.',
      );
    }
    this.#byAccount.set(accountId, own + 1);
    this.#all += 1;
    return () => {
      const left = this.#byAccount.get(accountId)! - 1;
      if (left === 0) this.#byAccount.delete(accountId);
      else this.#byAccount.set(accountId, left);
      this.#all -= 1;
    };
  }
}
