/**
 * Lets so many pieces of work through at once, and of one name no more than a share. Names take turns: whoever has much to do
 * waits behind itself, and not before others.
 */
export class FairGate {
  readonly #perName: number;
  readonly #inside = new Map<string, number>();
  /** By name, in the order of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #free: number;

  constructor(places: number, perName: number) {
    this.#free = places;
    this.#perName = perName;
  }

  async through<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0 && this.#has(name)) this.#take(name);
    else await this.#turn(name);
    try {
      return await work();
    } finally {
      this.#leave(name);
    }
  }

  #has(name: string): boolean {
    return (this.#inside.get(name) ?? 0) < this.#perName;
  }

  #take(name: string): void {
    this.#free -= 1;
    this.#inside.set(name, (this.#inside.get(name) ?? 0) + 1);
  }

  #turn(name: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const queue = this.#waiting.get(name);
    if (queue) queue.push(resolve);
    else this.#waiting.set(name, [resolve]);
    return promise;
  }

  #leave(name: string): void {
    this.#free += 1;
    const left = this.#inside.get(name)! - 1;
    if (left === 0) this.#inside.delete(name);
    else this.#inside.set(name, left);
    for (const [next, queue] of this.#waiting) {
      if (!this.#has(next)) continue;
      this.#waiting.delete(next);
      const resume = queue.shift()!;
      if (queue.length > 0) this.#waiting.set(next, queue);
      this.#take(next);
      resume();
      return;
    }
  }
}
