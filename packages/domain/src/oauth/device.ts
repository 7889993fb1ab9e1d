/** Words and bounds of the device authorization grant (RFC 8628), by which a machine without a browser gets an API key. */

/** Consonants alone: no code spells a word, and no two letters look alike. Eight of them are 34 bits. */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';
const codeLength = 8;

/** `random(n)` is an integer from 0 up to n, without n, that nobody guesses. */
export function makeUserCode(random: (below: number) => number): string {
  return Array.from({ length: codeLength }, () => letters[random(letters.length)]).join('');
}

/** The code as both sides show it, such as `BCDF-GHJK`. */
export const shownUserCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

/** Longest text that is read as a code. */
export const maxUserCodeChars = 32;

/** Reads a code as a person types it: in any case, with or without the hyphen. Null for a text that is none. */
export function readUserCode(text: string): string | null {
  if (text.length > maxUserCodeChars) return null;
  const code = text.toUpperCase().replaceAll(/[\s-]/g, '');
  return code.length === codeLength && Array.from(code).every((letter) => letters.includes(letter)) ? code : null;
}

export const deviceBounds = {
  /** Time to type the code and to decide. */
  lifetimeSeconds: 600,
  /** Least time between two questions whether somebody has decided. A machine that asks sooner must wait this much longer. */
  intervalSeconds: 5,
  maxIntervalSeconds: 60,
  /** Requests that wait for a person, of one network and in all. */
  maxPendingOfNetwork: 20,
  maxPending: 10_000,
} as const;
