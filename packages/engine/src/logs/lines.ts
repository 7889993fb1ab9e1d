import { createLineRedactor, trimEndOf, withoutControlSequences } from '@lodge/domain';
import { maxLogLine, maxLogMessage } from '@lodge/ports';

/** Control characters but for the tab, and the marks that turn the direction of text. */
const controls = /[^\P{Cc}\t]|\p{Bidi_Control}|\ufeff/gu;

/** What a terminal would leave standing of a line, as plain text. Linear in the line's length. */
export function plainText(line: string): string {
  const written = trimEndOf(withoutControlSequences(line), '\r');
  return written
    .slice(written.lastIndexOf('\r') + 1)
    .replace(controls, '')
    .trimEnd();
}

/** Makes lines fit to be kept, one after another: plain, without secrets, not too long. Null: nothing of it is left. */
export class LineCleaner {
  private readonly redactLine = createLineRedactor();

  clean(line: string): string | null {
    const cut = line.length > maxLogLine;
    const inBounds = (cut ? line.slice(0, maxLogLine) : line).replaceAll('\n', ' ');
    const found = this.redactLine(plainText(inBounds));
    if (found === null || found.trim() === '') return null;
    // Of a secret that the cut went through, the front half may have no shape. Most often it is beyond what is kept.
    const kept = cut && found.length <= maxLogMessage ? withoutLastWord(found) : found;
    return kept.slice(0, maxLogMessage).toWellFormed() || null;
  }
}

function withoutLastWord(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1]!.trim() !== '') end -= 1;
  return text.slice(0, end);
}

/** Lines out of pieces of a stream. The line that is still being written is kept back, in bounds. */
export class LineSplitter {
  private rest = '';

  /** The lines `piece` completes. */
  push(piece: string): readonly string[] {
    const lines = (this.rest + piece).split('\n');
    this.rest = lines.pop()!;
    if (this.rest.length <= maxLogLine) return lines;
    const long = this.rest;
    this.rest = '';
    return [...lines, long];
  }

  /** The last line, though no line end came: a prompt, or the last words of a machine. */
  flush(): readonly string[] {
    const { rest } = this;
    this.rest = '';
    return rest === '' ? [] : [rest];
  }
}
