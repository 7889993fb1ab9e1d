/** Watches how long the event loop is held up, in CPU time of this thread: a busy machine does not count. */
export function watchLoopTurns(): () => number {
  let longestMs = 0;
  let isOver = false;
  let last = process.threadCpuUsage();
  const look = (): void => {
    const used = process.threadCpuUsage(last);
    last = process.threadCpuUsage();
    longestMs = Math.max(longestMs, (used.user + used.system) / 1000);
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    isOver = true;
    return longestMs;
  };
}
