/**
 * The library leaves a timer of 30 s behind each upload of pre-keys. It has no effect once the upload is done, but would keep the
 * process of a test file alive for so long. Import this before anything is connected.
 */
const uploadTimeoutMs = 30_000;
const { setTimeout: real } = globalThis;

globalThis.setTimeout = ((work: (...given: unknown[]) => void, delayMs?: number, ...given: unknown[]) => {
  const timer = real(work, delayMs, ...given);
  if (delayMs === uploadTimeoutMs) timer.unref();
  return timer;
}) as typeof globalThis.setTimeout;
