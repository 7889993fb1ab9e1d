import { createHash } from 'node:crypto';
import { networkOf } from '@lodge/domain';
import type { AttemptLimit } from '@lodge/ports';

/** Longest wait: nobody is locked out for good, and guessing gets some hundred tries a day. */
const maxWaitSeconds = 900;

/** One office may sit behind one address: one of them who guesses must not keep the others waiting for long. */
export function addressLimit(address: string): AttemptLimit {
  return { subject: `address:${networkOf(address)}`, free: 20, maxWaitSeconds: 60 };
}

/**
 * Guesses at one account, wherever they come from. An address that the account was signed in from has a count of its own:
 * guesses from elsewhere do not keep its owner waiting. By the e-mail and not the account, so that nothing tells whether
 * there is one.
 */
export function accountLimit(email: string, address: string, knownAddress: boolean): AttemptLimit {
  const account = createHash('sha256').update(email, 'utf8').digest('hex').slice(0, 32);
  const from = knownAddress ? `@${networkOf(address)}` : '';
  return { subject: `account:${account}${from}`, free: 5, maxWaitSeconds };
}

/** Password and code asked of somebody signed in: whoever took the session must not guess them. */
export function confirmationLimit(accountId: string): AttemptLimit {
  return { subject: `confirm:${accountId}`, free: 5, maxWaitSeconds };
}

export function registrationLimit(address: string): AttemptLimit {
  return { subject: `register:${networkOf(address)}`, free: 10, maxWaitSeconds };
}
