/** Whether the process at the other end of a channel still runs its event loop. */

export interface Heartbeat {
  readonly pingEveryMs: number;
  /** A process that answers nothing for so long hangs. */
  readonly silentMs: number;
}

/** No other cause blocks an event loop for a second. */
export const usualHeartbeat: Heartbeat = { pingEveryMs: 10_000, silentMs: 60_000 };

export interface Listening {
  /** Notes that the other end has said something. */
  heard(): void;
  stop(): void;
}

/**
 * Calls `ping` again and again, and `silent` once nothing was heard for too long. It counts pings, so a pause of this
 * process counts once.
 */
export function listenFor(
  heartbeat: Heartbeat,
  { ping, silent }: { readonly ping: () => void; readonly silent: () => void },
): Listening {
  let unanswered = 0;
  const timer = setInterval(() => {
    if (unanswered * heartbeat.pingEveryMs >= heartbeat.silentMs) {
      clearInterval(timer);
      silent();
      return;
    }
    unanswered += 1;
    ping();
  }, heartbeat.pingEveryMs).unref();
  return { heard: () => void (unanswered = 0), stop: () => clearInterval(timer) };
}
