import { createHash } from 'node:crypto';
import { networkOf } from '@lodge/domain';
import type { AttemptLimit } from '@lodge/store/accounts';

/** Longest wait: nobody is locked out for good, and an attacker gets a few hundred guesses a day. */
const maxWaitSeconds = 900;

/** One office may share one address, so somebody there who guesses must not keep the others waiting for long. */
export function addressLimit(address: string): AttemptLimit {
  return { subject: `address:${networkOf(address)}`, free: 20, maxWaitSeconds: 60 };
}

/**
 * Limits guesses at one account from anywhere. An address that the account was signed in from has a separate count, so
 * guesses from elsewhere do not keep its owner waiting. The key is the e-mail and not the account, so that nothing shows
 * whether the account exists.
 */
export function accountLimit(email: string, address: string, knownAddress: boolean): AttemptLimit {
  const account = createHash('sha256').update(email, 'utf8').digest('hex').slice(0, 32);
  const from = knownAddress ? `@${networkOf(address)}` : '';
  return { subject: `account:${account}${from}`, free: 5, maxWaitSeconds };
}

/** Limits the passwords and codes that a signed-in person is asked for: a thief of the session must not guess them. */
export function confirmationLimit(accountId: string): AttemptLimit {
  return { subject: `confirm:${accountId}`, free: 5, maxWaitSeconds };
}

export function registrationLimit(address: string): AttemptLimit {
  return { subject: `register:${networkOf(address)}`, free: 10, maxWaitSeconds };
}

/** Limits guesses at the code of a machine that waits, by the person who types it and by their network. */
export function userCodeLimits(accountId: string, address: string): readonly AttemptLimit[] {
  return [
    { subject: `device:${accountId}`, free: 10, maxWaitSeconds },
    { subject: `device-address:${networkOf(address)}`, free: 30, maxWaitSeconds: 60 },
  ];
}
