import { setTimeout as sleep } from 'node:timers/promises';
import { VmError } from '@lodge/ports';

export interface Wait {
  /** The purpose of the wait, for the message of a timeout. */
  readonly what: string;
  readonly timeoutMs: number;
  readonly everyMs: number;
  readonly signal?: AbortSignal;
}

/** Calls `probe` until it returns something other than null, for at most `timeoutMs`. */
export async function until<T>(probe: () => Promise<T | null> | T | null, wait: Wait): Promise<T> {
  const deadline = performance.now() + wait.timeoutMs;
  for (;;) {
    throwIfAborted(wait.signal);
    const found = await probe();
    if (found !== null) return found;
    if (performance.now() > deadline) {
      throw new VmError('timeout', `${wait.what}: not within ${wait.timeoutMs} ms`);
    }
    await sleep(wait.everyMs);
  }
}

/** `AbortSignal.throwIfAborted` with the driver's own kind of error. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal);
}

export function abortError(signal: AbortSignal): VmError {
  if (signal.reason instanceof VmError) return signal.reason;
  return new VmError('aborted', 'the caller gave up', { cause: signal.reason });
}

/** Turns any thrown value into the error that the port promises. */
export function toVmError(error: unknown, signal?: AbortSignal): VmError {
  if (signal?.aborted) return abortError(signal);
  const code = isFull(error) ? 'disk_full' : 'failed';
  if (error instanceof VmError) {
    const isTold = code === 'failed' || error.code !== 'failed';
    return isTold ? error : new VmError(code, error.message, { cause: error.cause, death: error.death });
  }
  return new VmError(code, error instanceof Error ? error.message : String(error), { cause: error });
}

/** Whether the disk had no room, or what failed before because of that. */
function isFull(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause)
    if (['ENOSPC', 'EDQUOT'].includes((each as NodeJS.ErrnoException).code ?? '')) return true;
  return false;
}

/** `Promise.all` that settles only when every part has, so that nothing is still running during a clean-up. */
export async function allSettledOrThrow<T extends readonly unknown[]>(parts: {
  readonly [K in keyof T]: Promise<T[K]>;
}): Promise<T> {
  const settled = await Promise.allSettled(parts);
  for (const part of settled) if (part.status === 'rejected') throw part.reason;
  return settled.map((part) => (part as PromiseFulfilledResult<unknown>).value) as unknown as T;
}
