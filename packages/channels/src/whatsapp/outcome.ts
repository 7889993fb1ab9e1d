/** The meaning of a socket's end: codes of WhatsApp's server, and of the library. */
import type { ChannelReason } from '@lodge/domain';
import { ownCodes } from './device/library.ts';

/**
 * - `again`: at once, nothing is wrong.
 * - `later`: with backoff, for ever.
 * - `unlinked`: the phone removed this device. Its keys are worth nothing.
 * - `over`: only a person can mend it.
 */
export type Outcome =
  | { readonly next: 'again' }
  | { readonly next: 'later'; readonly reason: ChannelReason }
  | { readonly next: 'unlinked' | 'over'; readonly reason: ChannelReason };

const unreachable: ChannelReason = {
  code: 'platform_unreachable',
  message: 'WhatsApp cannot be reached; it is tried again.',
};
export const loggedOut: ChannelReason = {
  code: 'logged_out',
  message: 'The phone has removed this linked device. Pair it again.',
};
const locked: ChannelReason = {
  code: 'restricted',
  message: 'WhatsApp has locked this account. Open WhatsApp on its phone to see why.',
};
const notTaken: ChannelReason = {
  code: 'platform_refused',
  message: 'WhatsApp does not take this version of its protocol any more. The operator has to update Lodge.',
};

const outcomes: Readonly<Record<number, Outcome>> = {
  401: { next: 'unlinked', reason: loggedOut },
  402: { next: 'over', reason: locked },
  403: { next: 'over', reason: locked },
  405: { next: 'over', reason: notTaken },
  406: { next: 'over', reason: locked },
  409: { next: 'over', reason: notTaken },
  411: { next: 'over', reason: notTaken },
  419: { next: 'over', reason: locked },
  440: {
    next: 'over',
    reason: {
      code: 'used_elsewhere',
      message: 'Something else has connected as this linked device. Stop it, or pair this channel anew.',
    },
  },
  515: { next: 'again' },
  [ownCodes.fresh]: { next: 'again' },
  [ownCodes.untrusted]: {
    next: 'later',
    reason: {
      code: 'platform_refused',
      message:
        'The server that answered could not prove that it is WhatsApp. Nothing was sent to it; it is tried again.',
    },
  },
  [ownCodes.commitFailed]: {
    next: 'later',
    reason: {
      code: 'relay_down',
      message: 'Messages could not be kept; they stay at WhatsApp, and it is tried again.',
    },
  },
};

export const outcomeOf = (code: number): Outcome => outcomes[code] ?? { next: 'later', reason: unreachable };
