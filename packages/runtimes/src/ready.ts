import { endOfLog, lastLines, RuntimeWaitError, until, type GuestRuntime } from './guest-runtime.ts';

/** Bound on a start, times the host's pace. A cold start of OpenClaw under emulation took up to 230 s on a quiet machine. */
const startTimeoutMs = 15 * 60_000;
const pauseMs = 500;
/** Interval of the checks that the process lives, and of the progress reports. */
const lookEveryMs = 5_000;
/**
 * Most ends of a starting runtime. OpenClaw gives parts of itself seconds to start and ends when an emulated, busy guest
 * takes longer. The next start finds more work done.
 */
const maxEnds = 4;

/** Waits until a starting gateway serves. Gives up early on one that ends again and again. */
export async function awaitReady(
  runtime: GuestRuntime,
  signal: AbortSignal,
  tell: (elapsedSeconds: number) => void,
): Promise<void> {
  const { nextOffset: begin } = await runtime.guest.logs('guestd', endOfLog, 1, { signal });
  const startedAt = performance.now();
  let lookAtMs = 0;
  const wait = {
    what: 'become ready',
    timeoutMs: startTimeoutMs * runtime.guest.pace,
    pauseMs,
    attemptMs: 20_000,
    signal,
  };
  await until(runtime, wait, async (options) => {
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs >= lookAtMs) {
      tell(Math.round(elapsedMs / 1000));
      await assertStarting(runtime, begin, signal);
      lookAtMs = elapsedMs + lookEveryMs;
    }
    return (await runtime.gateway.failing(options)) ?? {};
  });
}

/**
 * Throws when the runtime ended too often. The guest's daemon restarts an ended runtime for ever, and writes each end into
 * its log.
 */
async function assertStarting(runtime: GuestRuntime, begin: number, signal: AbortSignal): Promise<void> {
  const { text } = await runtime.guest.logs('guestd', begin, logBytes, { signal });
  const ends = text.match(/ runtime (?:ended|was ended|could not be started)/g)?.length ?? 0;
  if (ends < maxEnds) return;
  const why = `ended ${ends} times while it was starting. ${await lastLines(runtime, signal)}`;
  throw new RuntimeWaitError(`${runtime.name} ${why}`);
}

const logBytes = 64 * 1024;
