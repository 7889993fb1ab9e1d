/** Codes that unknown senders receive, and by which a channel's owner approves them. */

/** Characters that do not look alike. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const codeChars = 8;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/**
 * Bounds of one channel. When the most senders wait, one of them gives way to a new one: the one with the oldest code, if
 * that is an hour old, else a random one whose code has been valid for `holdsMs`. Strangers therefore keep nobody out unless
 * that many write within that time. Each receives a code once an hour, and nobody can tell whose code gives way next.
 */
export const pairingBounds = {
  /** Most senders who wait for a decision. */
  pending: 400,
  /** A code gives way to no other before this age. */
  holdsMs: 10 * minuteMs,
  /** From this age on the oldest code gives way, and before it a random one. */
  isOldAfterMs: hourMs,
  /** A sender who goes on writing receives the code again after this time. */
  tellAgainAfterMs: hourMs,
  /** A code ends this long after it was last sent. */
  endsAfterMs: 24 * hourMs,
} as const;

/** Makes a code; `randomInt` returns a whole number below its argument. */
export const makePairingCode = (randomInt: (below: number) => number): string =>
  Array.from({ length: codeChars }, () => alphabet[randomInt(alphabet.length)]).join('');

/** Normalises a code as a person may type it. */
export const readPairingCode = (typed: string): string => typed.slice(0, 64).trim().toUpperCase();

export const pairingText = (code: string): string =>
  `This agent does not know you yet. Give its owner the code ${code} to be let in, then write again.`;
