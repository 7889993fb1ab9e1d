/** Bounds on texts of agents, files and the API before a model reads them. */

/** Most bytes of text in one result. */
export const maxResultBytes = 64 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export interface Cut {
  readonly text: string;
  /** Bytes of the whole text, as UTF-8. */
  readonly bytes: number;
  readonly isCut: boolean;
}

/** The beginning of a text that fits into `maxBytes` of UTF-8. No character is cut in two. */
export function cutText(whole: string, maxBytes: number): Cut {
  // No text has fewer bytes than characters.
  const bytes = encoder.encode(whole.length > maxBytes ? whole.slice(0, maxBytes + 1) : whole);
  if (bytes.length <= maxBytes) return { text: whole.toWellFormed(), bytes: bytes.length, isCut: false };
  const kept = bytes.subarray(0, wholeCharacters(bytes, maxBytes));
  return { text: decoder.decode(kept), bytes: encoder.encode(whole).length, isCut: true };
}

/** The beginning and the end of a text, where it is longer than `maxBytes`: errors of programs are at the end. */
export function cutMiddle(whole: string, maxBytes: number): Cut {
  const bytes = encoder.encode(whole);
  if (bytes.length <= maxBytes) return { text: whole.toWellFormed(), bytes: bytes.length, isCut: false };
  const half = Math.floor(maxBytes / 2);
  const head = decoder.decode(bytes.subarray(0, wholeCharacters(bytes, half)));
  let from = bytes.length - half;
  while (from < bytes.length && isContinuation(bytes[from]!)) from += 1;
  const tail = decoder.decode(bytes.subarray(from));
  const left = bytes.length - half - half;
  return { text: `${head}\n[… ${left} bytes are left out …]\n${tail}`, bytes: bytes.length, isCut: true };
}

/** The largest count of bytes up to `max` after which a character of UTF-8 ends. */
export function wholeCharacters(bytes: Uint8Array, max: number): number {
  let end = Math.min(max, bytes.length);
  // A character has at most three further bytes.
  for (let back = 0; back < 3 && end < bytes.length && end > 0 && isContinuation(bytes[end]!); back += 1) end -= 1;
  return end;
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

const strict = new TextDecoder('utf-8', { fatal: true });

/** The text of bytes; null when they are no text. */
export function textOf(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}

/** Base64, also where the platform has no method for it. */
export function base64Of(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
}

export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}
