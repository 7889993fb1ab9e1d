import { Shares } from './shares.ts';
import type { Holder } from './shares.ts';

export interface GateBounds {
  readonly inAll: number;
  readonly perName: number;
  /** A name that has no more than this may have of the last quarter. Without it nothing is kept back. */
  readonly few?: number;
}

export interface GateOptions {
  /** Work that waits is given up when it fires, with its reason. */
  readonly signal?: AbortSignal;
  /** Called where the work has to wait. The work is not done where this throws. */
  readonly beforeWaiting?: () => void;
}

/**
 * Lets so many pieces of work through at once, and of one name no more than a share: an account, a mailbox. Names take turns:
 * whoever has much to do waits behind itself, and not before others. The work of one name is begun in order.
 */
export class FairGate {
  readonly #shares: Shares;
  /** By name, in the order of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor({ inAll, perName, few = perName }: GateBounds) {
    this.#shares = new Shares({ perAgent: perName, perAccount: perName, inAll, few });
  }

  async through<T>(name: string, work: () => Promise<T>, options: GateOptions = {}): Promise<T> {
    options.signal?.throwIfAborted();
    if (this.#waiting.has(name) || !this.#shares.take(holderOf(name), 1)) {
      options.beforeWaiting?.();
      await this.#turn(name, options.signal);
    }
    try {
      return await work();
    } finally {
      this.#shares.giveBack(holderOf(name), 1);
      this.#letIn();
    }
  }

  /** Resolves with a place. */
  async #turn(name: string, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const queue = this.#waiting.get(name) ?? [];
    queue.push(resolve);
    this.#waiting.set(name, queue);
    const giveUp = (): void => {
      const index = queue.indexOf(resolve);
      // It has been let in already, and gives its place back.
      if (index < 0) return;
      queue.splice(index, 1);
      if (queue.length === 0) this.#waiting.delete(name);
      reject(signal!.reason);
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    await promise.finally(() => signal?.removeEventListener('abort', giveUp));
  }

  /** The name that has waited longest comes first, and goes to the end, where this loop comes by again, when more of it waits. */
  #letIn(): void {
    for (const [name, queue] of this.#waiting) {
      if (!this.#shares.take(holderOf(name), 1)) continue;
      this.#waiting.delete(name);
      const letIn = queue.shift()!;
      if (queue.length > 0) this.#waiting.set(name, queue);
      letIn();
    }
  }
}

const holderOf = (name: string): Holder => ({ agentId: name, accountId: name });
