/** A longer answer is cut. */
export const maxAnswerChars = 64 * 1024;

/** Makes an answer acceptable to a database and a platform: a guest wrote it. */
export const plainAnswer = (text: string): string =>
  text.slice(0, maxAnswerChars).replaceAll('\0', '').toWellFormed().trim();
