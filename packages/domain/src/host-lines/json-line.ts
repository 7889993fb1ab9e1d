/** JSON on one line of visible characters: what a stranger's values look like in a prompt. */

/** Ends of lines, and what is not seen or turns text around: each as `\uXXXX`, which is the same JSON. */
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

/** With less there is no room for anything. */
const leastBytes = 2;
const nothing: BoundedLine = { text: '""', bytes: leastBytes, isCut: true };

/** JSON of a value in at most so many UTF-8 bytes, but for `""`. Of what is longer, the beginning stands there as a text. */
export function boundedLine(value: unknown, maxBytes: number): BoundedLine {
  if (maxBytes <= leastBytes) return nothing;
  if (typeof value === 'string') return boundedText(value, maxBytes);
  const json = JSON.stringify(value ?? null);
  // Cut before it is made visible, which takes longer.
  const text = visible(json.slice(0, maxBytes + 1));
  const bytes = bytesOf(text, maxBytes);
  return bytes <= maxBytes ? { text, bytes, isCut: false } : { ...boundedText(json, maxBytes), isCut: true };
}

/** The beginning of a value's JSON, of which no more than that is looked at. */
export function cutLine(value: unknown, maxBytes: number): BoundedLine {
  const json = JSON.stringify(value ?? null);
  const whole = visible(json.slice(0, maxBytes + 1));
  const text = beginningOf(whole, maxBytes);
  return { text, bytes: bytesOf(text, maxBytes), isCut: text.length < whole.length };
}

/** An escaped character has at most six times its bytes: a few steps find what there is room for. */
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

/** The beginning of a text, in at most so many UTF-8 bytes and whole characters. */
function beginningOf(text: string, maxBytes: number): string {
  const { read } = encoder.encodeInto(text.slice(0, maxBytes), new Uint8Array(maxBytes));
  return text.slice(0, read);
}

/** Beyond `most` it is enough to know that there are more: a character has at least one. */
const bytesOf = (text: string, most: number): number =>
  text.length > most ? text.length : encoder.encode(text).length;
