import { FairGate } from './fair-gate.ts';
import type { GateOptions } from './fair-gate.ts';

/** Runs a bounded number of pieces of work at once, first come, first served. It is a gate without names. */
export class Semaphore {
  readonly #gate: FairGate;

  constructor(places: number) {
    this.#gate = new FairGate({ inAll: places });
  }

  through<T>(work: () => Promise<T>, options?: GateOptions): Promise<T> {
    return this.#gate.through('', work, options);
  }

  /** Takes a place and resolves with the function that returns it. A second call of that function has no effect. */
  enter(options?: GateOptions): Promise<() => void> {
    return this.#gate.enter('', options);
  }
}
