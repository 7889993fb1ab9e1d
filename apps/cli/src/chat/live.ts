/**
 * Shows an answer while it comes. On a terminal each block is shown as it is written, and again as Markdown when it is whole.
 * In a pipe the text passes as it is, but for what a terminal would obey.
 */
import { markdown } from '../terminal/markdown.ts';
import type { Output } from '../terminal/output.ts';
import { SafeStream } from '../terminal/safe.ts';
import { width } from '../terminal/width.ts';

/** A longer block stays as it was written. */
const maxBlockChars = 8 * 1024;
const fence = /^ {0,3}(`{3,}|~{3,})/;

export class LiveAnswer {
  readonly #out: Output;
  readonly #safe = new SafeStream();
  readonly #isLive: boolean;
  /** The text of the block so far. */
  #block = '';
  /** The line of the block that is not whole yet, within `#block`. */
  #lineStart = 0;
  #fence: string | undefined;
  #isBlank = false;
  /** Whether a block was shown before. */
  #hasBlocks = false;
  #endsLine = true;

  constructor(out: Output) {
    this.#out = out;
    this.#isLive = out.isTty && !out.isJson;
  }

  push(piece: string): void {
    const text = this.#safe.push(piece);
    if (text === '') return;
    if (this.#isLive) this.#show(text);
    else this.#write(text);
  }

  /** Shows the rest, and ends the line. */
  end(): void {
    const rest = this.#safe.end();
    if (this.#isLive) {
      this.#show(rest);
      this.#finish();
    } else this.#write(rest);
    if (!this.#endsLine) this.#write('\n');
  }

  #write(text: string): void {
    if (text === '') return;
    this.#endsLine = text.endsWith('\n');
    this.#out.write(text);
  }

  /** Takes up the text line by line, because a block ends where another line begins. */
  #show(text: string): void {
    for (const part of text.split(/(?<=\n)/)) {
      if (this.#lineStart === this.#block.length) this.#beginLine(part);
      this.#block += part;
      this.#write(part);
      if (!part.endsWith('\n')) continue;
      this.#endLine(this.#block.slice(this.#lineStart, -1));
      this.#lineStart = this.#block.length;
    }
    if (this.#block.length > maxBlockChars) this.#keep();
  }

  /** A line that is not indented, behind an empty one, begins a block. */
  #beginLine(part: string): void {
    if (this.#isBlank && this.#fence === undefined && !/^\s/.test(part)) this.#finish();
  }

  #endLine(line: string): void {
    const [, mark] = fence.exec(line) ?? [];
    if (this.#fence === undefined) this.#fence = mark;
    else if (mark !== undefined && mark.startsWith(this.#fence) && line.trim() === mark) {
      this.#fence = undefined;
      this.#lineStart = this.#block.length;
      this.#finish();
      return;
    }
    this.#isBlank = line.trim() === '';
  }

  /** Replaces the block on the screen by what it means. One that is higher than the screen stays as it is. */
  #finish(): void {
    const block = this.#block;
    const rows = rowsOf(block, this.#out.columns);
    if (block !== '' && rows < this.#out.rows) {
      this.#out.write(`\r${rows > 1 ? `\x1b[${rows - 1}A` : ''}\x1b[J`);
      this.#endsLine = true;
    }
    if (block.trim() !== '' && rows < this.#out.rows) {
      this.#write(`${this.#hasBlocks ? '\n' : ''}${markdown(block, this.#out)}`);
      this.#hasBlocks = true;
    }
    this.#reset();
  }

  /** Leaves the block as it is shown. */
  #keep(): void {
    this.#reset();
    this.#hasBlocks = false;
  }

  #reset(): void {
    this.#block = '';
    this.#lineStart = 0;
    this.#isBlank = false;
  }
}

/** Returns how many rows of the screen the text takes, with the row in which it ends. */
function rowsOf(text: string, columns: number): number {
  return text
    .split('\n')
    .map((line) => Math.max(1, Math.ceil(width(line.replaceAll('\t', '        ')) / columns)))
    .reduce((sum, rows) => sum + rows, 0);
}
