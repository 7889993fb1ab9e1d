/**
 * Cuts Markdown into pieces that a platform accepts. A cut is between paragraphs if that leaves no small piece, else between
 * lines, else between words, else between characters. A code fence that is open at a cut is closed there and opened again,
 * with its language. Every character is read a bounded number of times, whatever the text contains.
 */
import { fenceAfter } from './fence.ts';
import type { Fence } from './fence.ts';
import { endOfCharacter } from './graphemes.ts';
import { isVisible } from './plain.ts';

/** The weight of one code point on a platform. */
export type Weigh = (codePoint: number) => number;

export const utf16Units: Weigh = (codePoint) => (codePoint > 0xffff ? 2 : 1);
export const codePoints: Weigh = () => 1;
export const utf8Bytes: Weigh = (codePoint) => {
  if (codePoint > 0xffff) return 4;
  if (codePoint > 0x7ff) return 3;
  return codePoint > 0x7f ? 2 : 1;
};

/** The least limit that leaves room for a fence and a text in it. */
export const minLimit = 64;
/** A cut at a better border must leave this part of a piece. */
const enough = 1 / 3;

/** Pieces of at most `limit` by `weigh`, none of them without a visible character; empty when the text has none. */
export function splitMarkdown(markdown: string, limit: number, weigh: Weigh = utf16Units): string[] {
  if (!(limit >= minLimit)) throw new RangeError(`a limit of ${limit} is below ${minLimit}`);
  const splitter = new Splitter(markdown, limit, weigh);
  const pieces: string[] = [];
  for (let piece = splitter.next(); piece !== null; piece = splitter.next()) {
    if (isVisible(piece.body)) pieces.push(piece.text);
  }
  return pieces;
}

export function weightOf(text: string, weigh: Weigh = utf16Units): number {
  let weight = 0;
  for (let at = 0; at < text.length; at += 1) {
    const codePoint = text.codePointAt(at)!;
    weight += weigh(codePoint);
    if (codePoint > 0xffff) at += 1;
  }
  return weight;
}

/** A place to cut: the piece ends before `end`, the next one begins at `next`. */
interface Border {
  readonly end: number;
  readonly next: number;
  readonly fence: Fence | null;
  readonly atLineStart: boolean;
  readonly weight: number;
}

class Splitter {
  private readonly text: string;
  private readonly limit: number;
  private readonly weigh: Weigh;
  private start = 0;
  private atLineStart = true;
  /** Open where the next piece begins. */
  private fence: Fence | null = null;
  /** The line of the last search, from some place of it. */
  private line = { start: 0, end: -1 };

  constructor(text: string, limit: number, weigh: Weigh) {
    this.text = text;
    this.limit = limit;
    this.weigh = weigh;
  }

  /** `body` is the piece without the added marks. */
  next(): { readonly text: string; readonly body: string } | null {
    this.skipWhatNeedsNoPiece();
    if (this.start >= this.text.length) return null;
    const opened = this.fence;
    const border = this.borderAfter(this.start);
    const body = this.text.slice(this.start, border.end);
    const isOver = border.next >= this.text.length;
    this.start = border.next;
    this.fence = border.fence;
    this.atLineStart = border.atLineStart;
    const end = border.fence && !isOver ? `\n${border.fence.closing}` : '';
    return { text: (opened ? `${opened.opening}\n` : '') + (border.fence ? body : body.trimEnd()) + end, body };
  }

  /** Blank lines between pieces, and the end of a fence that would be opened again in vain. */
  private skipWhatNeedsNoPiece(): void {
    // The last piece ended with its line's last word.
    if (!this.atLineStart && this.text[this.start] === '\n') {
      this.start += 1;
      this.atLineStart = true;
    }
    while (this.atLineStart && this.start < this.text.length) {
      const lineEnd = this.lineEndAfter(this.start);
      if (this.fence) {
        if (this.fenceOf(this.start, lineEnd, this.fence) !== null) return;
        this.fence = null;
      } else if (!this.isBlank(this.start, lineEnd)) return;
      this.start = lineEnd + 1;
    }
  }

  private borderAfter(start: number): Border {
    let used = this.fence ? weightOf(this.fence.opening, this.weigh) + this.weigh(0x0a) : 0;
    let fence = this.fence;
    let paragraph: Border | null = null;
    let line: Border | null = null;
    for (let at = start; at < this.text.length;) {
      const lineEnd = this.lineEndAfter(at);
      const after = at > start || this.atLineStart ? this.fenceOf(at, lineEnd, fence) : fence;
      const weight = this.weightUpTo(at, lineEnd, this.limit - used);
      if (weight === null || used + weight + this.closingWeight(after) > this.limit) {
        const border = paragraph && paragraph.weight >= this.limit * enough ? paragraph : line;
        return border ?? this.borderWithin({ start: at, end: lineEnd }, used, fence);
      }
      used += weight;
      const border = { end: lineEnd, next: lineEnd + 1, fence: after, atLineStart: true, weight: used };
      const isEnd = lineEnd >= this.text.length;
      if (isEnd) return border;
      // A piece does not end with the line that opens a fence.
      if (after === null || fence !== null) line = border;
      if (after === null && (this.isBlank(at, lineEnd) || this.text[lineEnd + 1] === '\n')) paragraph = border;
      fence = after;
      used += this.weigh(0x0a);
      at = lineEnd + 1;
    }
    return { end: this.text.length, next: this.text.length, fence, atLineStart: true, weight: used };
  }

  /** The end of a part of a line that does not fit: after a word, else after a character. */
  private borderWithin(line: { start: number; end: number }, used: number, fence: Fence | null): Border {
    const room = this.limit - used - this.closingWeight(fence);
    let weight = 0;
    let at = line.start;
    let word: Border | null = null;
    while (at < line.end) {
      const codePoint = this.text.codePointAt(at)!;
      const width = codePoint > 0xffff ? 2 : 1;
      const isSpace = codePoint === 0x20 || codePoint === 0x09;
      if (isSpace && weight >= room * enough) {
        // In code the space stays.
        word = { end: fence ? at + 1 : at, next: at + 1, fence, atLineStart: false, weight: used + weight };
      }
      if (weight + this.weigh(codePoint) > room) break;
      weight += this.weigh(codePoint);
      at += width;
    }
    if (word && word.end <= at) return word;
    if (at >= line.end) return { end: at, next: at + 1, fence, atLineStart: true, weight: used + weight };
    const end = endOfCharacter(this.text, at, line.start);
    return { end, next: end, fence, atLineStart: false, weight: used + weight };
  }

  private fenceOf(start: number, end: number, open: Fence | null): Fence | null {
    // A long line is no fence, whatever it begins with.
    if (end - start > this.limit) return open;
    const after = fenceAfter(this.text.slice(start, end), open);
    return after === null || after === open || this.overhead(after) <= this.limit / 4 ? after : open;
  }

  private overhead(fence: Fence): number {
    return weightOf(fence.opening, this.weigh) + this.closingWeight(fence);
  }

  private closingWeight(fence: Fence | null): number {
    return fence ? weightOf(fence.closing, this.weigh) + this.weigh(0x0a) : 0;
  }

  /** Null when it is more than `most`. */
  private weightUpTo(start: number, end: number, most: number): number | null {
    let weight = 0;
    for (let at = start; at < end; at += 1) {
      const codePoint = this.text.codePointAt(at)!;
      weight += this.weigh(codePoint);
      if (weight > most) return null;
      if (codePoint > 0xffff) at += 1;
    }
    return weight;
  }

  /** A line of many pieces is searched once. */
  private lineEndAfter(at: number): number {
    if (at < this.line.start || at > this.line.end) {
      const found = this.text.indexOf('\n', at);
      this.line = { start: at, end: found === -1 ? this.text.length : found };
    }
    return this.line.end;
  }

  private isBlank(start: number, end: number): boolean {
    for (let at = start; at < end; at += 1) {
      const code = this.text.charCodeAt(at);
      if (code !== 0x20 && code !== 0x09 && code !== 0x0d) return false;
    }
    return true;
  }
}
