/** Turns text that somebody hostile wrote into plain text. Each function reads a character a bounded number of times. */

const esc = 0x1b;
const backslash = 0x5c;
const bel = 0x07;
const cancel = 0x18;
const substitute = 0x1a;
const stringTerminator = 0x9c;

/**
 * Returns the text without the control sequences of ECMA-48, which a terminal obeys and does not show, such as colours,
 * titles and links. A title without an end is shown, because only its introducer is removed. Other control characters stay.
 */
export function withoutControlSequences(text: string): string {
  let at = nextIntroducer(text, 0);
  if (at === text.length) return text;
  let shown = '';
  let from = 0;
  while (at < text.length) {
    if (at > from) shown += text.slice(from, at);
    from = endOfSequence(text, at);
    at = nextIntroducer(text, from);
  }
  return shown + text.slice(from);
}

function nextIntroducer(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === esc || (code >= 0x80 && code <= 0x9f)) return at;
  }
  return text.length;
}

/** Returns the index behind the sequence that begins at `start`, always greater than `start`. */
function endOfSequence(text: string, start: number): number {
  const isEscape = text.charCodeAt(start) === esc;
  const code = isEscape ? text.charCodeAt(start + 1) : text.charCodeAt(start) - 0x40;
  const next = isEscape ? start + 2 : start + 1;
  switch (code) {
    case 0x5b: // [: a control sequence
      return endOfControlSequence(text, next);
    case 0x50: // P, X, ], ^ and _: a string for the terminal
    case 0x58:
    case 0x5d:
    case 0x5e:
    case 0x5f:
      return endOfString(text, next);
    default:
      return isEscape ? endOfEscape(text, start + 1) : next;
  }
}

function endOfControlSequence(text: string, start: number): number {
  const intermediates = endOfRun(text, endOfRun(text, start, 0x30, 0x3f), 0x20, 0x2f);
  return endOfOne(text, intermediates, 0x40, 0x7e);
}

const endOfEscape = (text: string, start: number): number =>
  endOfOne(text, endOfRun(text, start, 0x20, 0x2f), 0x30, 0x7e);

/**
 * Returns the index behind the end mark of a string, or behind its introducer when it has no end. The searched text contains
 * no introducer, so no other search begins there.
 */
function endOfString(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === bel || code === stringTerminator) return at + 1;
    if (code === esc) return text.charCodeAt(at + 1) === backslash ? at + 2 : start;
    if (code === cancel || code === substitute || (code >= 0x80 && code <= 0x9f)) return start;
  }
  return start;
}

function endOfRun(text: string, start: number, first: number, last: number): number {
  let end = start;
  while (text.charCodeAt(end) >= first && text.charCodeAt(end) <= last) end += 1;
  return end;
}

const endOfOne = (text: string, at: number, first: number, last: number): number =>
  text.charCodeAt(at) >= first && text.charCodeAt(at) <= last ? at + 1 : at;

/**
 * Returns the text without these characters at its end. `text.replace(/[…]+$/, '')` would begin anew at each of them,
 * wherever they stand.
 */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

const maxLineChars = 500;

/** Returns the beginning of the text as one line, for people who scan many. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, maxLineChars).toWellFormed();
