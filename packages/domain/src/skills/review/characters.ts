/** Finds characters that a person does not see and a model reads, and text that is encoded. */
import type { Found } from './finding.ts';

const tags = /[\u{e0000}-\u{e007f}]/u;
const bidi = /[\u202a-\u202e\u2066-\u2069]/;
/** Two in a row select no glyph: they carry bytes. */
const selectors = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{2}/u;
const zeroWidth = /[\u200b\u2060-\u2064\u180e\ufeff\u3164\uffa0]/;
const joinedLatin = /[A-Za-z][\u200c\u200d]/;

const hidden = (severity: Found['severity'], message: string): Found => ({
  severity,
  rule: 'hidden_characters',
  message,
});

export function characterFindings(line: string): Found[] {
  // eslint-disable-next-line no-control-regex -- a text of ASCII alone hides nothing
  if (/^[\0-\x7f]*$/.test(line)) return [];
  const found: Found[] = [];
  if (tags.test(line)) found.push(hidden('high', 'tag characters, which spell text that nobody sees'));
  if (bidi.test(line)) found.push(hidden('high', 'characters that turn the direction of text'));
  if (selectors.test(line)) found.push(hidden('high', 'variation selectors in a row, which carry hidden bytes'));
  if (zeroWidth.test(line) || joinedLatin.test(line)) found.push(hidden('medium', 'characters without width'));
  return found;
}

const longRun = 512;
const isBase64 = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x61 && code <= 0x7a) ||
  code === 0x2b ||
  code === 0x2f;
const escapes = /(?:\\x[0-9a-fA-F]{2}){16}|(?:\\u[0-9a-fA-F]{4}){16}/;

/** Long texts in base64 or escapes may be anything, so somebody should look at them. */
export function encodedFindings(line: string): Found[] {
  const message = hasLongRun(line)
    ? `more than ${longRun} characters in a row that look like base64`
    : escapes.test(line)
      ? 'a long row of escaped characters'
      : null;
  return message === null ? [] : [{ severity: 'medium', rule: 'encoded_payload', message }];
}

function hasLongRun(line: string): boolean {
  if (line.length <= longRun) return false;
  let run = 0;
  for (let i = 0; i < line.length; i += 1) {
    run = isBase64(line.charCodeAt(i)) ? run + 1 : 0;
    if (run > longRun) return true;
  }
  return false;
}
