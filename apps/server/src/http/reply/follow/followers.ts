import { Refusal } from '@lodge/domain';

/** Open streams of one kind, bounded: each costs a connection and a query whenever what it follows grows. */
export class Followers {
  readonly #what: string;
  readonly #maxPerAccount: number;
  readonly #most: number;
  readonly #byAccount = new Map<string, number>();
  #all = 0;

  /** `what` names the kind: `log`. */
  constructor(what: string, maxPerAccount = 50, most = 2_500) {
    this.#what = what;
    this.#maxPerAccount = maxPerAccount;
    this.#most = most;
  }

  /** Takes a place, or refuses with 429. Gives what frees it. */
  join(accountId: string): () => void {
    const own = this.#byAccount.get(accountId) ?? 0;
    if (own >= this.#maxPerAccount || this.#all >= this.#most) {
      throw new Refusal(
        'rate_limit_exceeded',
        `Too many ${this.#what} streams are open at once. Close one, or read pages instead.`,
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
