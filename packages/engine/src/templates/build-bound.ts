/** The bound on one build of a template. Nothing is known of the host's pace before its guest has booted; from then on it counts. */
export class BuildBound {
  private readonly ms: number;
  private readonly late = new AbortController();
  private timer: NodeJS.Timeout;
  readonly signal: AbortSignal;

  /** `ms` are for image and boot, and as much again, times the pace, for what is done in the guest. `stopping` ends it, too. */
  constructor(ms: number, stopping: AbortSignal) {
    this.ms = ms;
    this.timer = this.after(ms);
    this.signal = AbortSignal.any([stopping, this.late.signal]);
  }

  /** The guest has answered, at this pace. */
  booted(pace: number): void {
    this.end();
    this.timer = this.after(this.ms * pace);
  }

  end(): void {
    clearTimeout(this.timer);
  }

  private after(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.late.abort(new Error('the template was not made in time')), ms);
  }
}
