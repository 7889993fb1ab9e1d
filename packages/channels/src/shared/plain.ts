/** Strangers' texts at a bounded length, without half characters. */

/** Bound on names of persons, groups and files, in UTF-16 units. */
export const maxNameChars = 200;

/** At most `maxChars` UTF-16 units of a text; no surrogate is left alone at the cut. */
export function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return text.slice(0, isHighSurrogate(text.charCodeAt(maxChars - 1)) ? maxChars - 1 : maxChars);
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

/** A field that should hold text: cut, and empty where it holds anything else. */
export const textOf = (value: unknown, maxChars = maxNameChars): string =>
  typeof value === 'string' ? cut(value, maxChars) : '';

/** A field that should hold a number or text that identifies something. Null for anything else, and for what is too long. */
export function idOf(value: unknown, maxChars = maxNameChars): string | null {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'bigint') return String(value).length <= maxChars ? String(value) : null;
  return typeof value === 'string' && value.length > 0 && value.length <= maxChars ? value : null;
}

/** A name on one line: control characters, line breaks and marks that turn the direction of text are spaces; the rest stays. */
export function plainName(value: unknown, otherwise = '', maxChars = maxNameChars): string {
  const plain = textOf(value, maxChars)
    .replace(/[\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, ' ')
    .trim();
  return plain === '' ? otherwise : plain;
}

/** The last part of a path, as a name for a file: neither empty nor `.` nor `..`. */
export function fileName(value: unknown, otherwise: string): string {
  const name = plainName(value);
  const last = plainName(name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1));
  return last === '' || last === '.' || last === '..' ? otherwise : last;
}

/** Whether a reader would see something: not only spaces, marks, and characters without a shape. */
export const isVisible = (text: string): boolean => /[^\p{C}\p{Z}\p{M}\s\u115f\u1160\u2800\u3164\uffa0]/u.test(text);

/** Replaces an answer without a visible character: platforms refuse empty texts. */
export const emptyAnswer = '…';
