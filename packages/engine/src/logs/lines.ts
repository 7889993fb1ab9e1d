import { createLineRedactor, trimEndOf, withoutControlSequences } from '@lodge/domain';
import { maxLogLine, maxLogMessage } from '@lodge/ports';

/** Control characters apart from the tab, and the marks that turn the direction of text. */
const controls = /[^\P{Cc}\t]|\p{Bidi_Control}|\ufeff/gu;

/** Returns the text that a terminal would leave visible of a line. Linear in the line's length. */
export function plainText(line: string): string {
  const written = trimEndOf(withoutControlSequences(line), '\r');
  return written
    .slice(written.lastIndexOf('\r') + 1)
    .replace(controls, '')
    .trimEnd();
}

/**
 * Makes lines fit to be stored, one after another: plain, without secrets, not too long. Returns null if nothing of a line
 * is left.
 */
export class LineCleaner {
  private readonly redactLine = createLineRedactor();

  clean(line: string): string | null {
    const cut = line.length > maxLogLine;
    const inBounds = (cut ? line.slice(0, maxLogLine) : line).replaceAll('\n', ' ');
    const found = this.redactLine(plainText(inBounds));
    if (found === null || found.trim() === '') return null;
    // The first half of a secret that the cut went through may have no recognisable shape. Most often it is beyond the kept
    // part.
    const kept = cut && found.length <= maxLogMessage ? withoutLastWord(found) : found;
    return kept.slice(0, maxLogMessage).toWellFormed() || null;
  }
}

function withoutLastWord(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1]!.trim() !== '') end -= 1;
  return text.slice(0, end);
}

/** Makes lines out of pieces of a stream. The unfinished line is kept back, within bounds. */
export class LineSplitter {
  private rest = '';

  /** Returns the lines that `piece` completes. */
  push(piece: string): readonly string[] {
    const lines = (this.rest + piece).split('\n');
    this.rest = lines.pop()!;
    if (this.rest.length <= maxLogLine) return lines;
    const long = this.rest;
    this.rest = '';
    return [...lines, long];
  }

  /** Returns the last line although no line end came: a prompt, or the last words of a machine. */
  flush(): readonly string[] {
    const { rest } = this;
    this.rest = '';
    return rest === '' ? [] : [rest];
  }
}
