/**
 * The kind of processor that guests have, in Node's words: the host's own. Tests of emulated guests of the other kind name
 * it in TESTS_GUEST_PROCESSOR (scripts/test-arm64.sh). Nothing else may set it, because a host runs guests of one kind.
 */
export type GuestProcessor = 'x64' | 'arm64';

const named = process.env['TESTS_GUEST_PROCESSOR'] ?? process.arch;

export const guestProcessor: GuestProcessor = named === 'arm64' ? 'arm64' : 'x64';

/** Whether Lodge has guests for this host's kind of processor. */
export const hasGuestsHere = process.arch === 'x64' || process.arch === 'arm64';
