import { Places } from './places.ts';

export interface GateBounds<Name> {
  readonly inAll: number;
  /** Most places of one name; all by default. */
  readonly perName?: number;
  /** Most places of a name that may use the last quarter. Without it no quarter is reserved. */
  readonly few?: number;
  /** Whether a waiting name comes before all others. It is called each time a place becomes free. */
  readonly isUrgent?: (name: Name) => boolean;
}

/** Bounds the work that waits at a gate. */
export interface WaitingRoom {
  /** Called when the work has to wait. It throws when the work may not wait, and then the work is cancelled. */
  enter(): void;
  /** Called once when the wait is over, for any reason. */
  leave(): void;
}

export interface GateOptions {
  /** Aborts waiting work with the signal's reason. */
  readonly signal?: AbortSignal;
  readonly room?: WaitingRoom;
  /** How much of the gate's places the work takes, such as bytes; 1 by default. It waits for ever for more than there is. */
  readonly amount?: number;
}

interface Waiting {
  readonly options: GateOptions;
  readonly letIn: () => void;
}

/**
 * Runs a bounded number of pieces of work at once, and a bounded share of them for one name, such as an account or a
 * mailbox. Names take turns, so a busy name delays only itself. The work of one name begins in order.
 */
export class FairGate<Name extends string = string> {
  readonly #inAll: number;
  readonly #places: Places;
  readonly #isUrgent: ((name: Name) => boolean) | undefined;
  /** Waiting work by name, in the order of their turns. */
  readonly #waiting = new Map<Name, Waiting[]>();

  constructor({ inAll, perName = inAll, few, isUrgent }: GateBounds<Name>) {
    this.#inAll = inAll;
    this.#places = new Places({ inAll, perName, ...(few !== undefined && { few }) });
    this.#isUrgent = isUrgent;
  }

  get isIdle(): boolean {
    return this.#places.taken === 0;
  }

  async through<T>(name: Name, work: () => Promise<T>, options: GateOptions = {}): Promise<T> {
    if (!this.#takes(name, options)) await this.#turn(name, options);
    try {
      return await work();
    } finally {
      this.#giveBack(name, options);
    }
  }

  /** Takes a place and resolves with the function that returns it. A second call of that function has no effect. */
  async enter(name: Name, options: GateOptions = {}): Promise<() => void> {
    if (!this.#takes(name, options)) await this.#turn(name, options);
    let isHeld = true;
    return () => {
      if (isHeld) this.#giveBack(name, options);
      isHeld = false;
    };
  }

  #takes(name: Name, { signal, amount = 1 }: GateOptions): boolean {
    signal?.throwIfAborted();
    return !this.#waiting.has(name) && this.#places.take(name, amount);
  }

  #giveBack(name: Name, { amount = 1 }: GateOptions): void {
    this.#places.giveBack(name, amount);
    if (this.#isUrgent) this.#letIn(this.#isUrgent);
    this.#letIn(() => true);
  }

  /** Resolves once the work has a place. */
  async #turn(name: Name, options: GateOptions): Promise<void> {
    const { signal, room } = options;
    room?.enter();
    const { promise, resolve: letIn, reject } = Promise.withResolvers<void>();
    const queue = this.#waiting.get(name) ?? [];
    const waiting: Waiting = { options, letIn };
    queue.push(waiting);
    this.#waiting.set(name, queue);
    const giveUp = (): void => {
      const index = queue.indexOf(waiting);
      // It already has a place and returns it.
      if (index < 0) return;
      queue.splice(index, 1);
      if (queue.length === 0) this.#waiting.delete(name);
      room?.leave();
      reject(signal!.reason);
      // Those behind it may need less, and then pass at once.
      this.#letIn(() => true);
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    await promise.finally(() => signal?.removeEventListener('abort', giveUp));
  }

  /**
   * Serves the name that has waited longest first. A name with more work goes to the end, where this loop visits it again.
   */
  #letIn(may: (name: Name) => boolean): void {
    for (const [name, queue] of this.#waiting) {
      if (this.#places.taken >= this.#inAll) return;
      const [{ options, letIn }] = queue as [Waiting];
      if (!may(name) || !this.#places.take(name, options.amount ?? 1)) continue;
      this.#waiting.delete(name);
      queue.shift();
      if (queue.length > 0) this.#waiting.set(name, queue);
      options.room?.leave();
      letIn();
    }
  }
}

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
