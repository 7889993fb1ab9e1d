import { setTimeout as sleep } from 'node:timers/promises';
import { NamedError } from '@lodge/domain';
import { guestClient, type GuestClient } from '@lodge/guest';
import type { GuestAddress } from '@lodge/ports';
import { GatewayError, type RuntimeGateway } from './gateway/calls.ts';

/**
 * A runtime in one guest: its gateway, and the guest's daemon for facts that the gateway cannot give (its log before it
 * listens).
 */
export interface GuestRuntime<G extends RuntimeGateway = RuntimeGateway> {
  /** The runtime's name, for messages. */
  readonly name: string;
  readonly gateway: G;
  readonly guest: GuestClient;
  readonly token: string;
}

export function guestRuntime<G extends RuntimeGateway>(
  name: string,
  guest: GuestAddress,
  token: string,
  gateway: G,
): GuestRuntime<G> {
  return { name, gateway, guest: guestClient(guest), token };
}

/** Thrown when a runtime did not reach the awaited state. The message ends with its last log lines, without the token. */
export class RuntimeWaitError extends NamedError {}

export interface Wait {
  /** The awaited action, as in "did not … within": `become ready`. */
  readonly what: string;
  readonly timeoutMs: number;
  readonly pauseMs: number;
  /** Bound on one attempt, times the host's pace. */
  readonly attemptMs: number;
  readonly signal: AbortSignal;
}

/**
 * Repeats `attempt` until it returns something other than a string, which names the missing part. A gateway that does not
 * answer or is not available yet is asked again. Rejects with the signal's reason when the signal ends it.
 */
export async function until<T extends object>(
  runtime: GuestRuntime,
  wait: Wait,
  attempt: (options: { readonly timeoutMs: number; readonly signal: AbortSignal }) => Promise<T | string>,
): Promise<T> {
  const startedAt = performance.now();
  let missing = 'not asked yet';
  for (;;) {
    const leftMs = wait.timeoutMs - (performance.now() - startedAt);
    if (leftMs <= 0) {
      const within = `did not ${wait.what} within ${Math.round(wait.timeoutMs / 1000)} s`;
      throw new RuntimeWaitError(`${runtime.name} ${within} (${missing}). ${await lastLines(runtime, wait.signal)}`);
    }
    try {
      const timeoutMs = Math.ceil(Math.min(wait.attemptMs * runtime.guest.pace, leftMs));
      const result = await attempt({ timeoutMs, signal: wait.signal });
      if (typeof result !== 'string') return result;
      missing = result;
    } catch (error) {
      if (!(error instanceof GatewayError) || !isPassing(error)) throw error;
      missing = error.message;
    }
    await sleep(wait.pauseMs, undefined, { signal: wait.signal }).catch(() => wait.signal.throwIfAborted());
  }
}

function isPassing({ status, code }: GatewayError): boolean {
  return status === null || status === 429 || status === 503 || code === 'UNAVAILABLE';
}

const tailBytes = 3_000;
/** An offset beyond the end of any log. The reply says where the log ends. */
export const endOfLog = Number.MAX_SAFE_INTEGER;

/** Returns the end of the runtime's log, for the message of a failure. Never fails itself. */
export async function lastLines(
  { guest, token }: Pick<GuestRuntime, 'guest' | 'token'>,
  signal: AbortSignal,
): Promise<string> {
  try {
    const { nextOffset } = await guest.logs('runtime', endOfLog, 1, { signal });
    const { text } = await guest.logs('runtime', Math.max(0, nextOffset - tailBytes), tailBytes, { signal });
    const lines = text.trimEnd().replaceAll(token, '[token]');
    return lines === '' ? 'Its log is empty.' : `The end of its log:\n${lines}`;
  } catch (error) {
    return `Its log could not be read: ${(error as Error).message}`;
  }
}
