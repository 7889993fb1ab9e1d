/** How many calls are under way: at most so many of one agent and so many in all. */
export class CallSlots {
  readonly #perAgent: number;
  readonly #inAll: number;
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor(perAgent: number, inAll: number) {
    this.#perAgent = perAgent;
    this.#inAll = inAll;
  }

  /** Takes a slot; null when there is none. Free it once, by the function returned. */
  take(agentId: string): (() => void) | null {
    const taken = this.#taken.get(agentId) ?? 0;
    if (taken >= this.#perAgent || this.#total >= this.#inAll) return null;
    this.#taken.set(agentId, taken + 1);
    this.#total++;
    return () => {
      this.#total--;
      const left = this.#taken.get(agentId)! - 1;
      if (left === 0) this.#taken.delete(agentId);
      else this.#taken.set(agentId, left);
    };
  }
}

/** Allows bursts of `burst` and so many a second over time, each name by itself. Bounded: forgotten names start afresh. */
export class Rate {
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #maxNames = 10_000;
  readonly #spent = new Map<string, { amount: number; at: number }>();

  constructor(burst: number, perSecond: number) {
    this.#burst = burst;
    this.#perSecond = perSecond;
  }

  allows(name: string, nowMs: number): boolean {
    const last = this.#spent.get(name) ?? { amount: 0, at: nowMs };
    const amount = Math.max(0, last.amount - (Math.max(0, nowMs - last.at) / 1000) * this.#perSecond);
    const allowed = amount + 1 <= this.#burst;
    this.#spent.delete(name);
    this.#spent.set(name, { amount: allowed ? amount + 1 : amount, at: nowMs });
    if (this.#spent.size > this.#maxNames) this.#spent.delete(this.#spent.keys().next().value!);
    return allowed;
  }
}
