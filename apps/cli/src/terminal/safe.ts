/**
 * Makes text that a server, an agent or a stranger wrote harmless to a terminal. It loses control sequences, controls,
 * characters that change the direction of text, and characters without a width. Each function reads a character a bounded
 * number of times, and looks at no more than it may show.
 */

/** Characters of a line, if the caller names no bound. */
const maxLineChars = 2000;
/** Characters of a text, if the caller names no bound. */
const maxTextChars = 4 * 1024 * 1024;
/** Marks above and below one letter. More would reach into the lines beside it. */
const maxMarks = 4;

const plain = /^[\x20-\x7e]*$/;
/** Controls, format characters, characters that are ignored by default, separators of lines, and halves of pairs. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/u;
const mark = /\p{M}/u;
const esc = 0x1b;

/** Returns the text as one line of at most `maxChars` UTF-16 units; a longer one ends with an ellipsis. */
export function safeLine(text: string, maxChars: number = maxLineChars): string {
  const bounded = text.length > 2 * maxChars ? text.slice(0, 2 * maxChars) : text;
  const line = plain.test(bounded) ? bounded : harmless(bounded, false).trim();
  if (line.length <= maxChars && bounded.length === text.length) return line;
  return `${line.slice(0, Math.max(0, maxChars - 1)).toWellFormed()}…`;
}

/** Returns the text with its lines and tabs, and nothing else that moves the cursor. */
export function safeText(text: string, maxChars: number = maxTextChars): string {
  if (text.length <= maxChars) return plain.test(text) ? text : harmless(text, true);
  return `${harmless(text.slice(0, maxChars), true)}…`;
}

/** Returns JSON in which every character that a terminal might obey is escaped, so that it still means the same. */
export function safeJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, null, indent) ?? 'null';
  return json.replaceAll(/[^\n\x20-\x7e]/gu, (character) => (unsafe.test(character) ? escaped(character) : character));
}

/** Returns text of the person who typed it, with its controls shown as escapes: `\u001b` for ESC. */
export function quoted(text: string): string {
  return safeJson(text.length > maxLineChars ? `${text.slice(0, maxLineChars)}…` : text);
}

const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');

function harmless(text: string, hasLines: boolean): string {
  const given = withoutControlSequences(text).replaceAll('\r\n', '\n').toWellFormed();
  let made = '';
  let marks = 0;
  for (const character of given) {
    if (mark.test(character) && !unsafe.test(character)) {
      marks += 1;
      if (marks <= maxMarks) made += character;
      continue;
    }
    marks = 0;
    made += unsafe.test(character) ? instead(character, hasLines, made) : character;
  }
  return made;
}

/** Returns the replacement of an unsafe character: white space for white space, else nothing. */
function instead(character: string, hasLines: boolean, before: string): string {
  switch (character) {
    case '\n':
    case '\u2028':
    case '\u2029':
    case '\u0085':
      return hasLines ? '\n' : space(before);
    case '\r':
      return hasLines ? '\n' : space(before);
    case '\t':
      return hasLines ? '\t' : space(before);
    default:
      return '';
  }
}

const space = (before: string): string => (before.endsWith(' ') ? '' : ' ');

/** Characters of an unfinished sequence that are kept for the next piece. */
const maxHeldChars = 64;

/** Makes a text harmless that comes in pieces, such as an answer. A sequence may begin in one piece and end in the next. */
export class SafeStream {
  #held = '';

  push(piece: string): string {
    const text = this.#held + piece;
    const keep = text.length - unfinished(text);
    this.#held = text.slice(keep);
    return safeText(text.slice(0, keep));
  }

  /** Returns the rest. */
  end(): string {
    const rest = safeText(this.#held);
    this.#held = '';
    return rest;
  }
}

/** Returns how many characters at the end may be the beginning of something. */
function unfinished(text: string): number {
  for (let at = text.length - 1; at >= 0 && text.length - at <= maxHeldChars; at -= 1) {
    if (nextIntroducer(text, at) !== at) continue;
    if (endOfSequence(text, at) === text.length) return text.length - at;
    break;
  }
  return /[\r\ud800-\udbff]$/.test(text) ? 1 : 0;
}

/**
 * Returns the text without the control sequences of ECMA-48, such as colours, titles and links. A title without an end is
 * shown, because only its introducer is removed.
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
    if (code === esc || (code >= 0x80 && code <= 0x9f && code !== 0x85)) return at;
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
      return endOfOne(text, endOfRun(text, endOfRun(text, next, 0x30, 0x3f), 0x20, 0x2f), 0x40, 0x7e);
    case 0x50: // P, X, ], ^ and _: a string for the terminal
    case 0x58:
    case 0x5d:
    case 0x5e:
    case 0x5f:
      return endOfString(text, next);
    default:
      return isEscape ? endOfOne(text, endOfRun(text, start + 1, 0x20, 0x2f), 0x30, 0x7e) : next;
  }
}

/**
 * Returns the index behind the end mark of a string, or behind its introducer when it has no end. The searched text contains
 * no introducer, so no other search begins there.
 */
function endOfString(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x07 || code === 0x9c) return at + 1;
    if (code === esc) return text.charCodeAt(at + 1) === 0x5c ? at + 2 : start;
    if (code === 0x18 || code === 0x1a || (code >= 0x80 && code <= 0x9f)) return start;
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
