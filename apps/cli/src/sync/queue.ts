/**
 * Work of a sync, by path: the newest wish for a path counts, one request for a path is under way at a time, and a wish stays
 * until it is carried out. While the server is away, all wait and are tried again.
 */
import { setTimeout as sleep } from 'node:timers/promises';

export type Wish = 'write' | 'remove';
export type Outcome = 'done' | 'later';

export interface QueueOptions {
  readonly signal: AbortSignal;
  /** Carries out one wish. `later`: the server was away. */
  readonly carryOut: (path: string, wish: Wish) => Promise<Outcome>;
  /** Called when nothing is left to do. */
  readonly onIdle: () => void;
}

const atOnce = 4;
const firstPauseMs = 250;
const longestPauseMs = 5_000;

export class Queue {
  readonly #options: QueueOptions;
  readonly #wishes = new Map<string, Wish>();
  readonly #underWay = new Set<string>();
  #failures = 0;
  #isPaused = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#wishes.size === 0 && this.#underWay.size === 0;
  }

  add(path: string, wish: Wish): void {
    this.#wishes.set(path, wish);
    this.#next();
  }

  #next(): void {
    if (this.#isPaused || this.#options.signal.aborted) return;
    for (const [path, wish] of this.#wishes) {
      if (this.#underWay.size >= atOnce) return;
      if (this.#underWay.has(path)) continue;
      this.#wishes.delete(path);
      this.#underWay.add(path);
      void this.#carryOut(path, wish);
    }
  }

  async #carryOut(path: string, wish: Wish): Promise<void> {
    const outcome = await this.#options.carryOut(path, wish);
    this.#underWay.delete(path);
    if (outcome === 'done') this.#failures = 0;
    else {
      if (!this.#wishes.has(path)) this.#wishes.set(path, wish);
      await this.#pause();
    }
    this.#next();
    if (this.isIdle) this.#options.onIdle();
  }

  async #pause(): Promise<void> {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#failures += 1;
    const ms = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(this.#failures, 10));
    await sleep(ms, undefined, { signal: this.#options.signal }).catch(() => undefined);
    this.#isPaused = false;
  }
}
