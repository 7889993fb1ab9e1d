import { Shares } from './shares.ts';
import type { Holder } from './shares.ts';

export interface GateBounds<Name> {
  readonly inAll: number;
  /** All of them, where it is not given. */
  readonly perName?: number;
  /** A name that has no more than this may have of the last quarter. Without it nothing is kept back. */
  readonly few?: number;
  /** Whether a name that waits comes before all others. It is asked each time a place becomes free. */
  readonly isUrgent?: (name: Name) => boolean;
}

/** Bounds the work that waits at a gate. */
export interface WaitingRoom {
  /** Called where the work has to wait. It throws where it does not let the work wait, and then the work is not done. */
  enter(): void;
  /** Called once when the wait is over, however it ended. */
  leave(): void;
}

export interface GateOptions {
  /** Work that waits is given up when it fires, with its reason. */
  readonly signal?: AbortSignal;
  readonly room?: WaitingRoom;
}

interface Waiting {
  readonly options: GateOptions;
  readonly letIn: () => void;
}

/**
 * Lets so many pieces of work through at once, and of one name no more than a share: an account, a mailbox. Names take turns:
 * whoever has much to do waits behind itself, and not before others. The work of one name is begun in order.
 */
export class FairGate<Name extends string = string> {
  readonly #inAll: number;
  readonly #shares: Shares;
  readonly #isUrgent: ((name: Name) => boolean) | undefined;
  /** By name, in the order of their turns. */
  readonly #waiting = new Map<Name, Waiting[]>();

  constructor({ inAll, perName = inAll, few = perName, isUrgent }: GateBounds<Name>) {
    this.#inAll = inAll;
    this.#shares = new Shares({ perAgent: perName, perAccount: perName, inAll, few });
    this.#isUrgent = isUrgent;
  }

  get isIdle(): boolean {
    return this.#shares.total === 0;
  }

  async through<T>(name: Name, work: () => Promise<T>, options: GateOptions = {}): Promise<T> {
    if (!this.#takes(name, options)) await this.#turn(name, options);
    try {
      return await work();
    } finally {
      this.#giveBack(name);
    }
  }

  /** Resolves with a place, as what gives it back; a second call of that has no effect. */
  async enter(name: Name, options: GateOptions = {}): Promise<() => void> {
    if (!this.#takes(name, options)) await this.#turn(name, options);
    let isHeld = true;
    return () => {
      if (isHeld) this.#giveBack(name);
      isHeld = false;
    };
  }

  #takes(name: Name, { signal }: GateOptions): boolean {
    signal?.throwIfAborted();
    return !this.#waiting.has(name) && this.#shares.take(holderOf(name), 1);
  }

  #giveBack(name: Name): void {
    this.#shares.giveBack(holderOf(name), 1);
    if (this.#isUrgent) this.#letIn(this.#isUrgent);
    this.#letIn(() => true);
  }

  /** Resolves with a place. */
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
      // It has been let in already, and gives its place back.
      if (index < 0) return;
      queue.splice(index, 1);
      if (queue.length === 0) this.#waiting.delete(name);
      room?.leave();
      reject(signal!.reason);
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    await promise.finally(() => signal?.removeEventListener('abort', giveUp));
  }

  /** The name that has waited longest comes first, and goes to the end, where this loop comes by again, when more of it waits. */
  #letIn(may: (name: Name) => boolean): void {
    for (const [name, queue] of this.#waiting) {
      if (this.#shares.total >= this.#inAll) return;
      if (!may(name) || !this.#shares.take(holderOf(name), 1)) continue;
      this.#waiting.delete(name);
      const { options, letIn } = queue.shift()!;
      if (queue.length > 0) this.#waiting.set(name, queue);
      options.room?.leave();
      letIn();
    }
  }
}

const holderOf = (name: string): Holder => ({ agentId: name, accountId: name });
