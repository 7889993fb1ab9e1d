import { LeaseLost } from '@lodge/ports';
import type { ConnectionHost, Press, Pressed } from '@lodge/ports';
import { untilAborted } from '@lodge/domain';
import { Backoff } from './backoff.ts';
import type { BackoffTimings } from './backoff.ts';

/**
 * Commits a press, and tries again after a failure until `signal`. Null: it was not committed until then, so the platform is
 * told nothing. Rejects with `LeaseLost`.
 */
export async function pressed(
  host: Pick<ConnectionHost, 'pressed' | 'log'>,
  press: Press,
  { backoff, signal }: { readonly backoff: Backoff; readonly signal: AbortSignal },
): Promise<Pressed | null> {
  while (!signal.aborted) {
    try {
      return await untilAborted(host.pressed(press), signal);
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      if (signal.aborted) return null;
      host.log.warn({}, 'a press was not committed');
    }
    await backoff.wait(signal);
  }
  return null;
}

/** Presses of one connection that are handed on at once. Others get no answer, and their platform says so. */
const maxUnderWay = 20;

export interface PressTakerOptions {
  readonly host: Pick<ConnectionHost, 'pressed' | 'log'>;
  /** The time that the platform waits for an answer, with a margin. */
  readonly withinMs: number;
  readonly backoff: BackoffTimings;
  /** Aborted at the connection's end. */
  readonly signal: AbortSignal;
  /** With `LeaseLost`. */
  readonly onLost: (error: unknown) => void;
}

/** Hands presses on beside messages, because their platform waits only seconds for an answer. */
export class PressTaker {
  private readonly options: PressTakerOptions;
  private underWay = 0;

  constructor(options: PressTakerOptions) {
    this.options = options;
  }

  /** Returns at once. `find` names the press; `answer` is called when it is committed, and may fail. */
  take(
    find: (signal: AbortSignal) => Promise<Press | null>,
    answer: (pressed: Pressed, press: Press) => Promise<unknown>,
  ): void {
    if (this.underWay >= maxUnderWay) return;
    this.underWay += 1;
    void this.run(find, answer).finally(() => {
      this.underWay -= 1;
    });
  }

  private async run(...[find, answer]: Parameters<PressTaker['take']>): Promise<void> {
    const { host, withinMs, signal, onLost } = this.options;
    const within = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
    const press = await find(within).catch(() => null);
    if (press === null) return;
    try {
      const backoff = new Backoff(this.options.backoff);
      const outcome = await pressed(host, press, { backoff, signal: within });
      if (outcome !== null) await answer(outcome, press).catch(() => undefined);
    } catch (error) {
      onLost(error);
    }
  }
}
