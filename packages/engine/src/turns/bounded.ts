import { Refusal } from '@lodge/domain';

export interface Bounded {
  /** Aborts with a `Refusal` when `parent` aborts, when the time is over, or at `end`. */
  readonly signal: AbortSignal;
  /** Ends the use; calling it again changes nothing. */
  readonly end: () => void;
}

/** Bounds a use of an agent in time. */
export function bounded(parent: AbortSignal, timeoutMs: number): Bounded {
  const bound = new AbortController();
  const abort = (reason: Refusal): void => {
    clearTimeout(timer);
    parent.removeEventListener('abort', onAbort);
    bound.abort(reason);
  };
  const timer = setTimeout(() => abort(tooSlow(timeoutMs)), timeoutMs);
  const onAbort = (): void => abort(parent.reason instanceof Refusal ? parent.reason : givenUp(parent.reason));
  parent.addEventListener('abort', onAbort);
  if (parent.aborted) onAbort();
  return { signal: bound.signal, end: () => abort(givenUp(undefined)) };
}

const tooSlow = (timeoutMs: number): Refusal =>
  new Refusal('agent_unavailable', `The agent did not finish within ${Math.round(timeoutMs / 1000)} seconds.`, {
    mayRepeat: false,
  });

const givenUp = (cause: unknown): Refusal => new Refusal('agent_unavailable', 'The client went away.', { cause });
