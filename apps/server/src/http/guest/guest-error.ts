import type { ErrorCode } from '@lodge/domain';
import { Refusal } from '@lodge/domain';
import { GuestError, isUnknownRoute } from '@lodge/guest';

/** Refusals of any request that needs an agent's guest. */
export const guestErrors = [
  'agent_not_found',
  'agent_not_running',
  'agent_transitioning',
  'agent_outdated',
  'rate_limit_exceeded',
  'quota_exceeded',
  'insufficient_capacity',
  'agent_unavailable',
] as const satisfies readonly ErrorCode[];

/** The contract's words for each status of the guest's daemon. */
const codes: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  400: ['invalid_request', 'The agent’s machine does not take this'],
  404: ['file_not_found', 'Nothing is at this path of the workspace'],
  409: ['file_conflict', 'This cannot be done with what is at the path'],
  412: ['precondition_failed', 'Another version of the file is there than the one that was asked for'],
  413: ['request_too_large', 'A request may bring at most 64 MiB of a file, and a file may have at most 64 GiB'],
  416: ['range_not_satisfiable', 'The file has no such bytes'],
  503: ['rate_limit_exceeded', 'Too much of this is under way in this agent at once'],
  507: ['disk_full', 'The disk of the agent is full; nothing was written'],
};
/** Here the daemon's own reason says more: it names which of several things prevents the call. */
const withReason = new Set([400, 409]);

/** Returns a client's error for a guest's error, or for its silence. */
export function guestRefusal(error: unknown): unknown {
  if (!(error instanceof GuestError)) return error;
  // The failure happened here, before the guest.
  if (error.cause instanceof Refusal) return error.cause;
  if (isUnknownRoute(error)) {
    return new Refusal('agent_outdated', 'The agent runs on an image from before this was there. Upgrade it first.');
  }
  const [code, text] = codes[error.status ?? 0] ?? [];
  if (code === undefined || text === undefined) {
    return new Refusal('agent_unavailable', 'The agent does not answer at the moment. Try again shortly.', {
      cause: error,
    });
  }
  const reason = withReason.has(error.status ?? 0) && error.reason !== null ? `: ${guestWords(error.reason)}` : '';
  return new Refusal(code, `${text}${reason}.`);
}

/** The guest's words, for its own owner: one short line of printable text. */
export const guestWords = (text: string): string => text.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').slice(0, 200);

/** Returns the same promise, with its failure in the contract's words. */
export async function ofGuest<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw guestRefusal(error);
  }
}
