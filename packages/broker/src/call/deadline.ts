/** Why a call was given up. */
export type GaveUp = 'guest left' | 'guest stalled' | 'first byte' | 'idle' | 'total' | 'shutdown';

/** Ends a call from outside: one silence timer that is set anew as things happen, one for the whole, and the guest's leaving. */
export class Deadline {
  readonly #abort = new AbortController();
  readonly #total: NodeJS.Timeout;
  #silence: { readonly timer: NodeJS.Timeout; readonly reason: GaveUp; readonly ms: number } | null = null;
  #gaveUp: GaveUp | null = null;

  constructor(totalMs: number) {
    this.#total = setTimeout(() => this.giveUp('total'), totalMs);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get gaveUp(): GaveUp | null {
    return this.#gaveUp;
  }

  /** Gives up with `reason` unless this is called again within `ms`. */
  expect(reason: GaveUp, ms: number): void {
    if (this.#silence?.reason === reason && this.#silence.ms === ms) {
      this.#silence.timer.refresh();
      return;
    }
    clearTimeout(this.#silence?.timer);
    this.#silence = { timer: setTimeout(() => this.giveUp(reason), ms), reason, ms };
  }

  giveUp(reason: GaveUp): void {
    if (this.#gaveUp !== null) return;
    this.#gaveUp = reason;
    this.done();
    this.#abort.abort();
  }

  /** Stops the clocks. */
  done(): void {
    clearTimeout(this.#total);
    clearTimeout(this.#silence?.timer);
    this.#silence = null;
  }
}
