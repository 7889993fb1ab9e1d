import { Places, Refusal } from '@lodge/domain';

/** Open streams of one kind, bounded: each costs a connection, and a query whenever its list grows. */
export class Followers {
  readonly #what: string;
  readonly #places: Places;

  /** `what` names the kind: `log`. */
  constructor(what: string, maxPerAccount = 50, most = 2_500) {
    this.#what = what;
    this.#places = new Places({ perName: maxPerAccount, inAll: most });
  }

  /** Takes a place, or refuses with 429. Returns a function that frees it. */
  join(accountId: string): () => void {
    if (!this.#places.take(accountId)) {
      throw new Refusal(
        'rate_limit_exceeded',
        `Too many ${this.#what} streams are open at once. Close one, or read pages instead.`,
      );
    }
    return () => this.#places.giveBack(accountId);
  }
}
