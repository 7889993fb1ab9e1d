import { Shares } from './shares.ts';
import type { Holder } from './shares.ts';

export interface PlaceBounds {
  readonly perName: number;
  /** Without bound where it is not given. */
  readonly inAll?: number;
  /** A name that has no more than this may have of the last quarter. Without it nothing is kept back. */
  readonly few?: number;
}

/** Places, or bytes, that are taken by name, such as an account or an address: so many by one, and so many in all. */
export class Places {
  readonly #perName: number;
  readonly #shares: Shares;

  constructor({ perName, inAll = Infinity, few = perName }: PlaceBounds) {
    this.#perName = perName;
    this.#shares = new Shares({ perAgent: perName, perAccount: perName, inAll, few });
  }

  get taken(): number {
    return this.#shares.total;
  }

  /** Whether a name has taken as many as it may. */
  isFull(name: string): boolean {
    return this.#shares.of(name) >= this.#perName;
  }

  /** False when there is not enough for this name; nothing is taken then. */
  take(name: string, amount = 1): boolean {
    return this.#shares.take(holderOf(name), amount);
  }

  giveBack(name: string, amount = 1): void {
    this.#shares.giveBack(holderOf(name), amount);
  }

  /** The room of those who wait at a gate, a place for each. Throws what `full` returns where there is none for this name. */
  roomOf(name: string, full: () => Error): { enter(): void; leave(): void } {
    return {
      enter: () => {
        if (!this.take(name)) throw full();
      },
      leave: () => this.giveBack(name),
    };
  }
}

const holderOf = (name: string): Holder => ({ agentId: name, accountId: name });
