import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js';

export type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

interface Reported {
  readonly everyMs: number;
  /** First words about the work. */
  readonly words: string;
}

/**
 * Runs the work, and tells a client that gave a progress token how it goes: at once, when `say` has new words, and every
 * `everyMs`. A client's own timeout begins anew with each. `progress` is the seconds since the beginning.
 */
export async function reporting<T>(
  { _meta, sendNotification, signal }: Extra,
  { everyMs, words }: Reported,
  work: (say: (words: string) => void) => Promise<T>,
): Promise<T> {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return work(() => undefined);
  const from = performance.now();
  let last = -1;
  let doing = words;
  const tell = (): void => {
    if (signal.aborted) return;
    const seconds = (performance.now() - from) / 1000;
    // It must rise with each.
    last = Math.max(last + 0.001, Math.round(seconds * 10) / 10);
    const message = seconds < 1 ? doing : `${doing} (${Math.round(seconds)} s)`;
    // Nobody is there to hear of a failure.
    sendNotification({
      method: 'notifications/progress',
      params: { progressToken, progress: Math.round(last * 1000) / 1000, message },
    }).catch(() => undefined);
  };
  tell();
  const timer = setInterval(tell, everyMs);
  try {
    return await work((words) => {
      if (words === doing) return;
      doing = words;
      tell();
    });
  } finally {
    clearInterval(timer);
  }
}
