/** Codes that unknown senders are told, and that a channel's owner approves them by. */

/** Without characters that look alike. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const codeChars = 8;

const hourMs = 3_600_000;

/**
 * Bounds of one channel. Where as many senders wait as may, the one who was told longest ago gives way to a new one. A code holds
 * for an hour all the same: so many senders are told one in an hour, and each of them once. Fewer strangers keep nobody out.
 */
export const pairingBounds = {
  /** Senders who wait for a decision. */
  pending: 400,
  /** A code gives way to no other before. Not less than the next: whoever gave way might be told again sooner. */
  holdsMs: hourMs,
  /** A sender who goes on writing is told the code again. */
  tellAgainAfterMs: hourMs,
  /** From when it was told last. */
  endsAfterMs: 24 * hourMs,
} as const;

/** `randomInt` gives a whole number below its argument. */
export const makePairingCode = (randomInt: (below: number) => number): string =>
  Array.from({ length: codeChars }, () => alphabet[randomInt(alphabet.length)]).join('');

/** As it may be typed. */
export const readPairingCode = (typed: string): string => typed.slice(0, 64).trim().toUpperCase();

export const pairingText = (code: string): string =>
  `This agent does not know you yet. Give its owner the code ${code} to be let in, then write again.`;
