/** JSON on one line of visible characters, as a stranger's values appear in a prompt. */

/**
 * Line ends, invisible characters and characters that turn text around. Each is written as `\uXXXX`, which is the same JSON.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export const jsonLine = (value: unknown): string => visible(JSON.stringify(value ?? null));

const visible = (json: string): string =>
  json.replaceAll(unseen, (character) => {
    let escaped = '';
    for (let at = 0; at < character.length; at += 1) {
      escaped += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
    }
    return escaped;
  });

export interface BoundedLine {
  readonly text: string;
  readonly bytes: number;
  readonly isCut: boolean;
}

/** The fewest bytes that hold anything. */
const leastBytes = 2;
const nothing: BoundedLine = { text: '""', bytes: leastBytes, isCut: true };

/**
 * Returns JSON of a value in at most `maxBytes` UTF-8 bytes, but at least `""`. A longer value is replaced by a text with
 * its beginning.
 */
export function boundedLine(value: unknown, maxBytes: number): BoundedLine {
  if (maxBytes <= leastBytes) return nothing;
  if (typeof value === 'string') return boundedText(value, maxBytes);
  const json = JSON.stringify(value ?? null);
  // It is cut before it is made visible, because that takes longer.
  const text = visible(json.slice(0, maxBytes + 1));
  const bytes = bytesOf(text, maxBytes);
  return bytes <= maxBytes ? { text, bytes, isCut: false } : { ...boundedText(json, maxBytes), isCut: true };
}

/** Returns the beginning of a value's JSON and looks at no more than that. */
export function cutLine(value: unknown, maxBytes: number): BoundedLine {
  const json = JSON.stringify(value ?? null);
  const whole = visible(json.slice(0, maxBytes + 1));
  const text = beginningOf(whole, maxBytes);
  return { text, bytes: bytesOf(text, maxBytes), isCut: text.length < whole.length };
}

/** Returns the beginning that fits. An escaped character has at most six times its bytes, so a few steps find it. */
function boundedText(value: string, maxBytes: number): BoundedLine {
  for (let most = maxBytes; most > 0; most = Math.floor(most / 2)) {
    const beginning = beginningOf(value, most);
    const text = jsonLine(beginning);
    const bytes = bytesOf(text, maxBytes);
    if (bytes <= maxBytes) return { text, bytes, isCut: beginning.length < value.length };
  }
  return nothing;
}

const encoder = new TextEncoder();

/** Returns the beginning of a text in whole characters and at most `maxBytes` UTF-8 bytes. */
function beginningOf(text: string, maxBytes: number): string {
  const { read } = encoder.encodeInto(text.slice(0, maxBytes), new Uint8Array(maxBytes));
  return text.slice(0, read);
}

/** Counts the UTF-8 bytes of a text. Beyond `most` characters it need not count, because each has at least one byte. */
const bytesOf = (text: string, most: number): number =>
  text.length > most ? text.length : encoder.encode(text).length;
