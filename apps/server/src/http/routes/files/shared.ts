import { guestErrors } from '../../guest/guest-error.ts';

/** Bound on a transfer, which takes as long as the client's line needs. */
export const transferMs = 15 * 60_000;

/** Refusals of any request for files. */
export const fileErrors = ['invalid_request', ...guestErrors, 'file_not_found', 'file_conflict'] as const;
