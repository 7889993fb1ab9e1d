/** Codes that unknown senders are told, and that a channel's owner approves them by. */

/** Without characters that look alike. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const codeChars = 8;

/** `randomInt` gives a whole number below its argument. */
export const makePairingCode = (randomInt: (below: number) => number): string =>
  Array.from({ length: codeChars }, () => alphabet[randomInt(alphabet.length)]).join('');

/** As it may be typed. */
export const readPairingCode = (typed: string): string => typed.slice(0, 64).trim().toUpperCase();

export const pairingText = (code: string): string =>
  `This agent does not know you yet. Give its owner the code ${code} to be let in, then write again.`;
