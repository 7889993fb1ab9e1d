export interface ShareBounds {
  readonly perAgent: number;
  readonly perAccount: number;
  readonly inAll: number;
  /** An account that holds no more than this may take of the last quarter, which is kept from all others. */
  readonly few: number;
}

export interface Holder {
  readonly agentId: string;
  readonly accountId: string;
}

/**
 * Something there is only so much of: places for calls, bytes of bodies. It is bounded by agent, by account and in all, and
 * the last quarter is for accounts that hold little, so that however many agents a few accounts have, another's get some.
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

  /** False where there is not so much for this holder; nothing is taken then. */
  take({ agentId, accountId }: Holder, amount: number): boolean {
    if (amount === 0) return true;
    const { perAgent, perAccount, inAll, few } = this.#bounds;
    const ofAgent = (this.#ofAgents.get(agentId) ?? 0) + amount;
    const ofAccount = (this.#ofAccounts.get(accountId) ?? 0) + amount;
    const total = this.#total + amount;
    if (ofAgent > perAgent || ofAccount > perAccount || total > inAll) return false;
    if (total > inAll * 0.75 && ofAccount > few) return false;
    this.#change({ agentId, accountId }, amount);
    return true;
  }

  /** Counts what is held already, whatever the bounds: it was taken before this process began. */
  count(holder: Holder, amount: number): void {
    this.#change(holder, amount);
  }

  giveBack(holder: Holder, amount: number): void {
    this.#change(holder, -amount);
  }

  #change({ agentId, accountId }: Holder, amount: number): void {
    this.#total += amount;
    add(this.#ofAgents, agentId, amount);
    add(this.#ofAccounts, accountId, amount);
  }
}

function add(held: Map<string, number>, name: string, amount: number): void {
  const now = (held.get(name) ?? 0) + amount;
  if (now === 0) held.delete(name);
  else held.set(name, now);
}
