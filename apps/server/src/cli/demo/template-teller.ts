import { servesEarly } from '../../template-words.ts';
import { CommandError } from '../command.ts';

/** Reports how the template's build goes, from the output of a Lodge: each step as it begins, and a long one repeatedly. */
export class TemplateTeller {
  private readonly tell: (what: string) => void;
  private readonly ready = Promise.withResolvers<void>();

  constructor(tell: (what: string) => void) {
    this.tell = tell;
    // Perhaps nobody waits when it fails.
    this.ready.promise.catch(() => undefined);
  }

  hear(line: string): void {
    const [, runtime, state] = /^ {2}Template {2,}(\S+) (.*)$/.exec(line) ?? [];
    if (runtime === undefined || state === undefined) return;
    const failed = /^failed, to be tried again: (.*)$/.exec(state)?.[1];
    if (failed !== undefined) {
      return this.ready.reject(new CommandError(`The ${runtime} template was not made: ${failed}`));
    }
    this.tell(`template of ${runtime}: ${state}`);
    if (state === 'ready' || state === servesEarly) this.ready.resolve();
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
