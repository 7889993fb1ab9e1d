/**
 * The bound on one build of a template. Its image has its time, and its guest's boot. Nothing is known of the host's pace
 * before; from then on it counts.
 */
export class BuildBound {
  private readonly ms: number;
  private readonly late = new AbortController();
  private timer: NodeJS.Timeout;
  readonly signal: AbortSignal;

  /** `ms` are for each step, times the pace for what is done in the guest. `stopping` ends it, too. */
  constructor(ms: number, stopping: AbortSignal) {
    this.ms = ms;
    this.timer = this.after(ms);
    this.signal = AbortSignal.any([stopping, this.late.signal]);
  }

  /** Why the build was ended, if it was for its time. */
  get lateness(): Error | null {
    return this.late.signal.aborted ? (this.late.signal.reason as Error) : null;
  }

  /** A step is done: the image is there, or the guest has answered, at this pace. */
  next(pace = 1): void {
    this.end();
    this.timer = this.after(this.ms * pace);
  }

  end(): void {
    clearTimeout(this.timer);
  }

  private after(ms: number): NodeJS.Timeout {
    const minutes = Math.max(1, Math.round(ms / 60_000));
    return setTimeout(() => this.late.abort(new Error(`a step of it took longer than ${minutes} min`)), ms);
  }
}
