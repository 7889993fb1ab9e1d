import { NamedError, untilAborted } from '@lodge/domain';

/** A call's time is over. It is unknown whether the other side did it. */
export class DeadlineError extends NamedError {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`);
  }
}

/**
 * Runs a call with a signal that is aborted with its parent, or after the time with a `DeadlineError`. Rejects then at once,
 * even if the call ignores its signal. It leaves nothing on the parent, which lives as long as a connection.
 */
export async function within<T>(
  timeoutMs: number,
  parent: AbortSignal,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  parent.throwIfAborted();
  const own = new AbortController();
  const onParent = (): void => own.abort(parent.reason);
  parent.addEventListener('abort', onParent, { once: true });
  const timer = setTimeout(() => own.abort(new DeadlineError(timeoutMs)), timeoutMs);
  try {
    return await untilAborted(call(own.signal), own.signal);
  } finally {
    clearTimeout(timer);
    parent.removeEventListener('abort', onParent);
  }
}
