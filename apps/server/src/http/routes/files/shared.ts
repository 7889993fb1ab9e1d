import { guestErrors } from '../../guest/guest-error.ts';

/** A file may take as long as its client's line does, within this. */
export const transferMs = 15 * 60_000;

/** Refusals of any request for files. */
export const fileErrors = ['invalid_request', ...guestErrors, 'file_not_found', 'file_conflict'] as const;
