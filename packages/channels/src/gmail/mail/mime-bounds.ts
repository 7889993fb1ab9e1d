/**
 * A mail's bytes with a bound on what a parser has to do. A parser works line by line, so a mail of 8 MiB in lines of one
 * character costs it seconds and half a gigabyte, and its sender nothing.
 *
 * Each line is looked at once. Base64 is joined into long lines: its content stays, its count of lines does not matter.
 * Everything else is text here, and has a budget of bytes and lines for the whole mail; what is beyond it is left out.
 */

export interface MimeBounds {
  /** Bytes and lines of everything that is not base64, headers included, in all parts together. */
  readonly textBytes: number;
  readonly textLines: number;
}

export interface BoundedMime {
  readonly bytes: Buffer;
  /** Text or parts were left out. */
  readonly isCut: boolean;
}

export const maxParts = 200;
/** Gmail takes in mail of 50 MiB: in base64 of 76 characters a line that is less. */
const maxLines = 1_000_000;
const joinedBytes = 64 * 1024;
const maxBoundaries = 64;
/** Looks at whether a line is one of the boundaries, which take 0.2 s. A mail of three has 600,000 lines that begin as one does. */
const maxLooks = 2_000_000;
const newline = 0x0a;
const carriageReturn = 0x0d;
const dash = 0x2d;

/** Throws for a mail of more than a million lines. */
export function boundedMime(raw: Buffer, bounds: MimeBounds): BoundedMime {
  const scan = new Scan(raw, bounds);
  let lines = 0;
  for (let at = 0; at < raw.length && !scan.isOver;) {
    lines += 1;
    if (lines > maxLines) throw new Error(`a mail of more than ${maxLines} lines`);
    const found = raw.indexOf(newline, at);
    const end = found === -1 ? raw.length : found + 1;
    scan.line(at, end);
    at = end;
  }
  return scan.result();
}

class Scan {
  readonly #raw: Buffer;
  readonly #out: Buffer;
  readonly #boundaries: Buffer[] = [];
  #length = 0;
  #textBytes: number;
  #textLines: number;
  #parts = 0;
  #looks = 0;
  #state: 'header' | 'text' | 'base64' = 'header';
  /** The part's header, for its encoding and its boundary. */
  #header = '';
  /** Characters of base64 in the line that is being written. */
  #joined = 0;
  #isCut = false;
  isOver = false;

  constructor(raw: Buffer, { textBytes, textLines }: MimeBounds) {
    this.#raw = raw;
    // Joining never adds more than it takes away but for the ends of the joined lines.
    this.#out = Buffer.allocUnsafe(raw.length + 2 * Math.ceil(raw.length / joinedBytes) + 2 * maxParts + 2);
    this.#textBytes = textBytes;
    this.#textLines = textLines;
  }

  result(): BoundedMime {
    return { bytes: this.#out.subarray(0, this.#length), isCut: this.#isCut };
  }

  /** Takes a line with its end. */
  line(from: number, end: number): void {
    if (this.#state !== 'header' && this.#isBoundary(from, end)) return this.#beginPart(from, end);
    if (this.#state === 'base64') return this.#join(from, end);
    if (this.#textBytes < end - from || this.#textLines === 0) {
      this.#isCut = true;
      // A header that is cut in its midst would be another header.
      if (this.#state === 'header') this.isOver = true;
      return;
    }
    this.#textBytes -= end - from;
    this.#textLines -= 1;
    if (this.#state === 'header') this.#headerLine(from, end);
    this.#write(from, end);
  }

  #headerLine(from: number, end: number): void {
    const line = this.#raw.toString('latin1', from, end);
    if (line.trim() !== '') {
      this.#header += line;
      return;
    }
    const header = this.#header.replaceAll(/\r?\n[ \t]/g, ' ');
    this.#header = '';
    const boundary = boundaryIn(header);
    if (boundary !== null && this.#boundaries.length < maxBoundaries) this.#boundaries.push(boundary);
    this.#state = isBase64(header) ? 'base64' : 'text';
    this.#joined = 0;
  }

  #beginPart(from: number, end: number): void {
    this.#endJoined();
    this.#parts += 1;
    if (this.#parts > maxParts) {
      this.#isCut = true;
      this.isOver = true;
      return;
    }
    this.#write(from, end);
    this.#state = 'header';
  }

  #isBoundary(from: number, end: number): boolean {
    const raw = this.#raw;
    if (raw[from] !== dash || raw[from + 1] !== dash) return false;
    this.#looks += this.#boundaries.length;
    if (this.#looks > maxLooks) this.#isCut = this.isOver = true;
    return this.#boundaries.some(
      (boundary) =>
        end - from - 2 >= boundary.length &&
        raw.compare(boundary, 0, boundary.length, from + 2, from + 2 + boundary.length) === 0,
    );
  }

  #join(from: number, end: number): void {
    let last = end;
    while (last > from && isLineEnd(this.#raw[last - 1])) last -= 1;
    this.#write(from, last);
    this.#joined += last - from;
    if (this.#joined >= joinedBytes) this.#endJoined();
  }

  #endJoined(): void {
    if (this.#joined === 0) return;
    this.#joined = 0;
    this.#out[this.#length] = newline;
    this.#length += 1;
  }

  #write(from: number, end: number): void {
    this.#length += this.#raw.copy(this.#out, this.#length, from, end);
  }
}

const isLineEnd = (byte: number | undefined): boolean => byte === newline || byte === carriageReturn;

function boundaryIn(header: string): Buffer | null {
  const found = /\bboundary\s{0,8}=\s{0,8}(?:"([^"]{1,250})"|([^\s;"]{1,250}))/i.exec(header);
  const text = found?.[1] ?? found?.[2];
  return text === undefined ? null : Buffer.from(text, 'latin1');
}

const isBase64 = (header: string): boolean => /^content-transfer-encoding:[^\n]{0,200}base64/im.test(header);
