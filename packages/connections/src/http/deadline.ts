/** Aborts when the time is up: the whole time, or the time since the last progress. */
export class Deadline {
  readonly signal: AbortSignal;
  readonly #own = new AbortController();
  readonly #outer: AbortSignal;
  readonly #total: NodeJS.Timeout;
  #step: NodeJS.Timeout | undefined;

  constructor(totalMs: number, outer: AbortSignal) {
    this.#outer = outer;
    this.signal = AbortSignal.any([outer, this.#own.signal]);
    this.#total = setTimeout(() => this.#own.abort(), totalMs);
  }

  get why(): string {
    return this.#outer.aborted ? 'nobody waits for it any more' : 'it takes too long';
  }

  within(ms: number): void {
    clearTimeout(this.#step);
    this.#step = setTimeout(() => this.#own.abort(), ms);
  }

  end(): void {
    clearTimeout(this.#step);
    clearTimeout(this.#total);
  }
}
