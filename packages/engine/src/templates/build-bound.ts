/**
 * The bound on one build of a template. The image has its time, and so has the guest's boot. The host's pace is unknown
 * before; from then on it counts.
 */
export class BuildBound {
  private readonly ms: number;
  private readonly late = new AbortController();
  private timer: NodeJS.Timeout;
  readonly signal: AbortSignal;

  /** `ms` is for each step, multiplied by the pace for work in the guest. `stopping` ends the build, too. */
  constructor(ms: number, stopping: AbortSignal) {
    this.ms = ms;
    this.timer = this.after(ms);
    this.signal = AbortSignal.any([stopping, this.late.signal]);
  }

  /** Why the build was ended, if it ended because of its time. */
  get lateness(): Error | null {
    return this.late.signal.aborted ? (this.late.signal.reason as Error) : null;
  }

  /** Begins the next step: the image is there, or the guest has answered, at this pace. */
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
