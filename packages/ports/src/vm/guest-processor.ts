/**
 * The kind of processor that guests have, in Node's words: the host's own. Tests of the other kind's guests, emulated, name it
 * in TESTS_GUEST_PROCESSOR (scripts/test-arm64.sh); nothing else may, for a host runs guests of one kind.
 */
export type GuestProcessor = 'x64' | 'arm64';

const named = process.env['TESTS_GUEST_PROCESSOR'] ?? process.arch;

export const guestProcessor: GuestProcessor = named === 'arm64' ? 'arm64' : 'x64';

/** Lodge has guests for hosts of these kinds alone. */
export const hasGuestsHere = process.arch === 'x64' || process.arch === 'arm64';
