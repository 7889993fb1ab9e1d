import { FairGate } from './fair-gate.ts';
import type { GateOptions } from './fair-gate.ts';

/** Lets so many pieces of work through at once, first come, first served: a gate at which nobody has a name. */
export class Semaphore {
  readonly #gate: FairGate;

  constructor(places: number) {
    this.#gate = new FairGate({ inAll: places });
  }

  through<T>(work: () => Promise<T>, options?: GateOptions): Promise<T> {
    return this.#gate.through('', work, options);
  }

  /** Resolves with a place, as what gives it back; a second call of that has no effect. */
  enter(options?: GateOptions): Promise<() => void> {
    return this.#gate.enter('', options);
  }
}
