/**
 * How late this process's event loop is. Everybody is served by the one loop: what holds it up holds up every request, lease
 * and look at a machine. A timer measures it: Node's `monitorEventLoopDelay` does not see a delay that begins right behind its
 * `reset` (Node 24.21), so it has no longest delay of a span.
 */
import type { Log } from '@lodge/ports';

/** A delay beyond this is a fault: no work on the main thread should take so long. */
const warnMs = 100;
const tickMs = 20;

export interface LoopWatch {
  stop(): void;
}

export interface LoopWatchNeeds {
  readonly log: Pick<Log, 'warn'>;
  /** Receives the longest delay of each span. */
  readonly observe?: (seconds: number) => void;
  /** Length of a span, ms. */
  readonly everyMs?: number;
  /** Between two log lines, ms. */
  readonly quietMs?: number;
}

/** Looks at the loop until `stop`. It does not keep the process alive. */
export function watchEventLoop({ log, observe, everyMs = 1_000, quietMs = 10_000 }: LoopWatchNeeds): LoopWatch {
  let delayMs = 0;
  let worstMs = 0;
  let warnedAt = -Infinity;
  let tickedAt = performance.now();
  let spanEndsAt = tickedAt + everyMs;
  const endSpan = (now: number): void => {
    observe?.(delayMs / 1_000);
    worstMs = Math.max(worstMs, delayMs);
    delayMs = 0;
    spanEndsAt = now + everyMs;
    if (worstMs <= warnMs || now - warnedAt < quietMs) return;
    log.warn({ delay_ms: Math.round(worstMs) }, 'the event loop was held up: every request waited');
    warnedAt = now;
    worstMs = 0;
  };
  const tick = (): void => {
    const now = performance.now();
    delayMs = Math.max(delayMs, now - tickedAt - tickMs);
    tickedAt = now;
    if (now >= spanEndsAt) endSpan(now);
  };
  const timer = setInterval(tick, tickMs).unref();
  return { stop: () => clearInterval(timer) };
}
