import { until, type GuestRuntime } from './guest-runtime.ts';

/** A cold start under emulation took up to 230 s on a quiet machine. */
const startTimeoutMs = 15 * 60_000;
const tellEveryMs = 5_000;

/** Waits until a gateway that is starting serves. */
export async function awaitReady(
  runtime: GuestRuntime,
  signal: AbortSignal,
  tell: (elapsedSeconds: number) => void,
): Promise<void> {
  let tellAtMs = 0;
  const onPause = (elapsedMs: number): void => {
    if (elapsedMs < tellAtMs) return;
    tell(Math.round(elapsedMs / 1000));
    tellAtMs += tellEveryMs;
  };
  const wait = {
    what: 'become ready',
    timeoutMs: startTimeoutMs,
    pauseMs: 500,
    attemptMs: 20_000,
    signal,
    onPause,
  };
  await until(runtime, wait, async (options) => (await runtime.gateway.failing(options)) ?? {});
}
