/** Longest work in ms on one turn of the event loop. The rest waits for the next turn, so others are served in between. */
const turnMs = 1;

/**
 * Shares the event loop among agents whose text is being read. Work is done in small steps. When a loop turn has had its
 * share, the agents take turns, each for one such share, however many texts each of them has in progress. One object serves
 * a whole process, because two of them would take two shares of each loop turn.
 */
export class LoopShare {
  readonly #waiting = new Map<string, (() => void)[]>();
  #spentMs = 0;
  #isScheduled = false;

  /** Calls `step` until it returns false. */
  async run(agentId: string, step: () => boolean): Promise<void> {
    for (;;) {
      if (this.#spentMs >= turnMs) await this.#next(agentId);
      const began = performance.now();
      let goesOn: boolean;
      try {
        goesOn = step();
      } finally {
        this.#spentMs += performance.now() - began;
        this.#schedule();
      }
      if (!goesOn) return;
    }
  }

  #next(agentId: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const queue = this.#waiting.get(agentId);
    if (queue) queue.push(resolve);
    else this.#waiting.set(agentId, [resolve]);
    this.#schedule();
    return promise;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#spentMs = 0;
      if (this.#waiting.size > 0) this.#wake();
      if (this.#waiting.size > 0) this.#schedule();
    });
  }

  /** Wakes the agent that has waited longest. It goes to the end when more of its work waits. */
  #wake(): void {
    const [agentId, queue] = this.#waiting.entries().next().value!;
    this.#waiting.delete(agentId);
    const resume = queue.shift()!;
    if (queue.length > 0) this.#waiting.set(agentId, queue);
    resume();
  }
}

/** The share of this process. Every reader of text from a guest, a provider, a platform or a stranger uses it. */
export const loopShare = new LoopShare();
