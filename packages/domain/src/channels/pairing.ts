/** Codes that unknown senders are told, and that a channel's owner approves them by. */

/** Without characters that look alike. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const codeChars = 8;

/**
 * Bounds of one channel. Where as many senders wait as may, the one who was told longest ago gives way to a new one, so that
 * strangers keep nobody out; a code holds for a while all the same, and what strangers are told in an hour is bounded by both.
 */
export const pairingBounds = {
  /** Senders who wait for a decision. */
  pending: 100,
  /** A code gives way to no other before. */
  holdsMs: 15 * 60_000,
  /** A sender who goes on writing is told the code again. */
  tellAgainAfterMs: 3_600_000,
  /** From when it was told last. */
  endsAfterMs: 24 * 3_600_000,
} as const;

/** `randomInt` gives a whole number below its argument. */
export const makePairingCode = (randomInt: (below: number) => number): string =>
  Array.from({ length: codeChars }, () => alphabet[randomInt(alphabet.length)]).join('');

/** As it may be typed. */
export const readPairingCode = (typed: string): string => typed.slice(0, 64).trim().toUpperCase();

export const pairingText = (code: string): string =>
  `This agent does not know you yet. Give its owner the code ${code} to be let in, then write again.`;
