import { BusyError } from '@lodge/ports';

/** Lets so much work through at once, and so much wait, first come first served. */
export class Gate {
  readonly #atOnce: number;
  readonly #most: number;
  readonly #queue: (() => void)[] = [];
  #running = 0;

  constructor({ atOnce, waiting }: { readonly atOnce: number; readonly waiting: number }) {
    this.#atOnce = atOnce;
    this.#most = waiting;
  }

  /** Rejects with `BusyError` when the queue is full. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#atOnce) this.#running++;
    else {
      if (this.#queue.length >= this.#most) throw new BusyError();
      // Whoever ends hands its place on, so `#running` stays.
      await new Promise<void>((resolve) => this.#queue.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = this.#queue.shift();
      if (next) next();
      else this.#running--;
    }
  }
}
