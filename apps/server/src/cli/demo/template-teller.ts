import type { TemplateProgress } from '@lodge/engine';
import { CommandError } from '../command.ts';

const everyMs = 10_000;

/** Tells how the making of the template goes: each step as it begins, and a long one every ten seconds. */
export class TemplateTeller {
  private readonly tell: (what: string) => void;
  private readonly ready = Promise.withResolvers<void>();
  private lastStep = '';
  private lastAt = 0;

  constructor(tell: (what: string) => void) {
    this.tell = tell;
    // Nobody may be waiting when it fails.
    this.ready.promise.catch(() => undefined);
  }

  hear({ runtime, state, step, fraction }: TemplateProgress): void {
    if (state === 'failed') return this.ready.reject(new CommandError(`The ${runtime} template was not made: ${step}`));
    const now = performance.now();
    // A step may count its own seconds: that makes it no other step.
    const name = step.replace(/ \(\d+ s\)$/, '');
    if (name !== this.lastStep || now - this.lastAt >= everyMs) {
      const percent = fraction === null || state === 'ready' ? '' : ` (${Math.round(fraction * 100)} %)`;
      this.tell(`template of ${runtime}: ${step}${percent}`);
      this.lastStep = name;
      this.lastAt = now;
    }
    if (state === 'ready') this.ready.resolve();
  }

  async untilReady(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<never>();
    const abort = (): void => aborted.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    try {
      await Promise.race([this.ready.promise, aborted.promise]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }
}
