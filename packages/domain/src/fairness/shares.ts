export interface ShareBounds {
  readonly perAgent: number;
  readonly perAccount: number;
  readonly inAll: number;
  /** Most that an account may hold to use the last quarter, which is reserved for such accounts. */
  readonly few: number;
}

export interface Holder {
  readonly agentId: string;
  readonly accountId: string;
}

/**
 * A limited resource, such as places for calls or bytes of bodies. It is bounded by agent, by account and in all. The last
 * quarter is for accounts that hold little, so another account gets some however many agents a few accounts have.
 */
export class Shares {
  readonly #bounds: ShareBounds;
  readonly #ofAgents = new Map<string, number>();
  readonly #ofAccounts = new Map<string, number>();
  #total = 0;

  constructor(bounds: ShareBounds) {
    this.#bounds = bounds;
  }

  get total(): number {
    return this.#total;
  }

  /** Returns how much an agent holds. */
  of(agentId: string): number {
    return this.#ofAgents.get(agentId) ?? 0;
  }

  /** Takes an amount. False when there is too little for this holder; nothing is taken then. */
  take({ agentId, accountId }: Holder, amount: number): boolean {
    if (amount === 0) return true;
    const { perAgent, perAccount, inAll, few } = this.#bounds;
    const ofAgent = this.of(agentId) + amount;
    const ofAccount = (this.#ofAccounts.get(accountId) ?? 0) + amount;
    const total = this.#total + amount;
    if (ofAgent > perAgent || ofAccount > perAccount || total > inAll) return false;
    if (total > inAll * 0.75 && ofAccount > few) return false;
    this.#change({ agentId, accountId }, amount);
    return true;
  }

  /** Counts an amount that was taken before this process began, whatever the bounds. */
  count(holder: Holder, amount: number): void {
    this.#change(holder, amount);
  }

  giveBack(holder: Holder, amount: number): void {
    this.#change(holder, -amount);
  }

  /** Begins a piece of work of this holder, which takes amounts as it goes on. */
  heldBy(holder: Holder): HeldShare {
    return new HeldShare(this, holder);
  }

  #change({ agentId, accountId }: Holder, amount: number): void {
    this.#total += amount;
    add(this.#ofAgents, agentId, amount);
    add(this.#ofAccounts, accountId, amount);
  }
}

/** The amount that one piece of work holds of some shares. */
export class HeldShare {
  readonly #shares: Shares;
  readonly #holder: Holder;
  #amount = 0;

  constructor(shares: Shares, holder: Holder) {
    this.#shares = shares;
    this.#holder = holder;
  }

  /** Takes some more. False when there is too little for this holder; nothing is taken then. */
  take(amount: number): boolean {
    if (!this.#shares.take(this.#holder, amount)) return false;
    this.#amount += amount;
    return true;
  }

  /** Gives an amount back, or all that is held. */
  giveBack(amount = this.#amount): void {
    this.#amount -= amount;
    if (amount > 0) this.#shares.giveBack(this.#holder, amount);
  }
}

function add(held: Map<string, number>, name: string, amount: number): void {
  const now = (held.get(name) ?? 0) + amount;
  if (now === 0) held.delete(name);
  else held.set(name, now);
}
