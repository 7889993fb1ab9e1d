/** Codes that unknown senders are told, and that a channel's owner approves them by. */

/** Without characters that look alike. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const codeChars = 8;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/**
 * Bounds of one channel. Where as many senders wait as may, one gives way to a new one: the one who was told longest ago, if that is an
 * hour, and else one by chance of those whose codes have held as long as they must. So strangers keep nobody out unless as many of them
 * write within that time; each is told a code once an hour, and nobody can tell whose code gives way next.
 */
export const pairingBounds = {
  /** Senders who wait for a decision. */
  pending: 400,
  /** A code gives way to no other before. */
  holdsMs: 10 * minuteMs,
  /** From then on the oldest gives way, and before one by chance. */
  isOldAfterMs: hourMs,
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
