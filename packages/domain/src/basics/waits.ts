/** Rejects with the signal's reason as soon as it is aborted, even if the work ignores it. Nobody waits for the work then. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const ended = Promise.withResolvers<never>();
  const onAbort = (): void => ended.reject(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, ended.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Ends as `late` does when the work takes longer than that. The work goes on, and nobody waits for it. */
export async function atMost<T>(ms: number, work: Promise<T>, late: () => T): Promise<T> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, ms);
  try {
    return await Promise.race([work, over.promise.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
