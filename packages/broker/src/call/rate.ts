/** Allows bursts of `burst` and so much a second over time, each name by itself. Bounded: forgotten names start afresh. */
export class Rate {
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #maxNames = 10_000;
  readonly #spent = new Map<string, { amount: number; at: number }>();

  constructor(burst: number, perSecond: number) {
    this.#burst = burst;
    this.#perSecond = perSecond;
  }

  allows(name: string, nowMs: number, amount = 1): boolean {
    const spent = this.#spentBy(name, nowMs);
    const allowed = spent + amount <= this.#burst;
    this.#spent.delete(name);
    this.#spent.set(name, { amount: allowed ? spent + amount : spent, at: nowMs });
    if (this.#spent.size > this.#maxNames) this.#spent.delete(this.#spent.keys().next().value!);
    return allowed;
  }

  #spentBy(name: string, nowMs: number): number {
    const last = this.#spent.get(name) ?? { amount: 0, at: nowMs };
    return Math.max(0, last.amount - (Math.max(0, nowMs - last.at) / 1000) * this.#perSecond);
  }
}
