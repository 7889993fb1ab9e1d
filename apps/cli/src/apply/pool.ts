/** Does the same with several things, a bounded number at once. Nothing more begins when one failed or somebody interrupts. */
export async function pooled<T, R>(
  things: readonly T[],
  atOnce: number,
  signal: AbortSignal,
  work: (thing: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    while (next < things.length && !hasFailed) {
      signal.throwIfAborted();
      const at = next;
      next += 1;
      try {
        results[at] = await work(things[at]!);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, things.length) }, worker));
  return results;
}
