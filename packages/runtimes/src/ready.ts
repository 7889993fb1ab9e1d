import { endOfLog, lastLines, RuntimeWaitError, until, type GuestRuntime } from './guest-runtime.ts';

/** A cold start of OpenClaw under emulation took up to 230 s on a quiet machine. Times the host's pace. */
const startTimeoutMs = 15 * 60_000;
const pauseMs = 500;
/** Between looks at whether the process still lives, and between words to whoever waits. */
const lookEveryMs = 5_000;
/** A runtime (OpenClaw) may give parts of itself seconds to start and end when an emulated, busy guest takes longer; the next start finds more done. */
const maxEnds = 4;

/** Waits until a gateway that is starting serves. Gives up early on one that ends again and again. */
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

/** The guest's daemon starts a runtime that ended again, for ever, and writes each end into its log. */
async function assertStarting(runtime: GuestRuntime, begin: number, signal: AbortSignal): Promise<void> {
  const { text } = await runtime.guest.logs('guestd', begin, logBytes, { signal });
  const ends = text.match(/ runtime (?:ended|was ended|could not be started)/g)?.length ?? 0;
  if (ends < maxEnds) return;
  const why = `ended ${ends} times while it was starting. ${await lastLines(runtime, signal)}`;
  throw new RuntimeWaitError(`${runtime.name} ${why}`);
}

const logBytes = 64 * 1024;
