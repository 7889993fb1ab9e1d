/**
 * One line of Markdown in WhatsApp's marks: `**b**` is `*b*`, `*i*` is `_i_`, `~~s~~` is `~s~`; code stays, links show their
 * address. Marks do not reach over lines there. A mark without a partner stays as it is. Linear in the length of the line.
 */
interface Open {
  readonly mark: '*' | '_' | '~';
  readonly length: number;
  /** Its place among the pieces. */
  readonly at: number;
}

const maxUrlChars = 2_048;

/** `plainBold`: bold within is left out, for a line that is bold as a whole. */
export function inlineMarks(line: string, plainBold = false): string {
  return new Inline(line, plainBold).run();
}

class Inline {
  private readonly line: string;
  private readonly plainBold: boolean;
  private readonly pieces: string[] = [];
  private readonly open: Open[] = [];
  /** How many of each are open: what has none is not looked for. */
  private readonly counts = new Map<string, number>();
  private readonly seekers: { readonly bracket: Seeker; readonly link: Seeker; readonly end: Seeker };
  private readonly ticks: ReadonlyMap<number, readonly number[]>;
  private readonly usedTicks = new Map<number, number>();
  private at = 0;

  constructor(line: string, plainBold: boolean) {
    this.line = line;
    this.plainBold = plainBold;
    this.seekers = { bracket: new Seeker(line, '['), link: new Seeker(line, ']('), end: new Seeker(line, ')') };
    this.ticks = runsOf(line, '`');
  }

  run(): string {
    while (this.at < this.line.length) this.step();
    return this.pieces.join('');
  }

  private step(): void {
    const character = this.line[this.at]!;
    switch (character) {
      case '\\':
        return this.escape();
      case '`':
        return this.code();
      case '!':
      case '[':
        return this.link(character);
      case '*':
      case '_':
      case '~':
        return this.mark(character);
      default:
        return this.plain();
    }
  }

  private plain(): void {
    const start = this.at;
    this.at += 1;
    while (this.at < this.line.length && !'\\`![*_~'.includes(this.line[this.at]!)) this.at += 1;
    this.pieces.push(this.line.slice(start, this.at));
  }

  private escape(): void {
    const next = this.line[this.at + 1];
    if (next !== undefined && '\\`*_{}[]()#+-.!~|<>'.includes(next)) {
      this.pieces.push(next);
      this.at += 2;
    } else this.take(1);
  }

  private code(): void {
    const length = runLength(this.line, this.at);
    const places = this.ticks.get(length)!;
    let used = this.usedTicks.get(length) ?? 0;
    while (used < places.length && places[used]! <= this.at) used += 1;
    this.usedTicks.set(length, used);
    const end = places[used];
    this.take(end === undefined ? length : end + length - this.at);
  }

  private link(character: string): void {
    const start = character === '!' ? this.at + 1 : this.at;
    if (this.line[start] !== '[') return this.take(1);
    const middle = this.seekers.link.from(start);
    const inner = this.seekers.bracket.from(start + 1);
    const end = middle === -1 ? -1 : this.seekers.end.from(middle + 2);
    if (end === -1 || (inner !== -1 && inner < middle) || end - middle > maxUrlChars) return this.take(1);
    const [url = ''] = this.line
      .slice(middle + 2, end)
      .trim()
      .split(/\s/, 1);
    const text = this.line.slice(start + 1, middle);
    this.pieces.push(text === '' || text === url ? url : `${text} (${url})`);
    this.at = end + 1;
  }

  private mark(mark: Open['mark']): void {
    let left = runLength(this.line, this.at);
    const before = this.line[this.at - 1] ?? ' ';
    const after = this.line[this.at + left] ?? ' ';
    this.at += left;
    // Longer runs are lines and the like.
    if (left > 3 || (mark === '~' && left !== 2)) return void this.pieces.push(mark.repeat(left));
    const inWord = mark === '_' && isWord(before) && isWord(after);
    if (!isSpace(before) && !inWord) {
      while (left > 0) {
        const closed = this.close(mark, left);
        if (closed === 0) break;
        left -= closed;
      }
    }
    const canOpen = !isSpace(after) && !inWord;
    while (left > 0) {
      const length = Math.min(left, 2);
      if (canOpen) this.begin(mark, length);
      this.pieces.push(mark.repeat(length));
      left -= length;
    }
  }

  private begin(mark: Open['mark'], length: number): void {
    const kind = mark + length;
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    this.open.push({ mark, length, at: this.pieces.length });
  }

  /** Closes the nearest one of this mark that is no longer than `most`. Returns its length; 0: there is none. */
  private close(mark: Open['mark'], most: number): number {
    const isOpen = (length: number): boolean => length <= most && (this.counts.get(mark + length) ?? 0) > 0;
    if (!isOpen(1) && !isOpen(2)) return 0;
    for (;;) {
      const last = this.open.pop()!;
      const kind = last.mark + last.length;
      this.counts.set(kind, this.counts.get(kind)! - 1);
      if (last.mark !== mark || last.length > most) continue;
      const theirs = this.theirs(mark, last.length);
      this.pieces[last.at] = theirs;
      this.pieces.push(theirs);
      return last.length;
    }
  }

  private theirs(mark: Open['mark'], length: number): string {
    if (mark === '~') return '~';
    if (length === 1) return '_';
    return this.plainBold ? '' : '*';
  }

  private take(length: number): void {
    this.pieces.push(this.line.slice(this.at, this.at + length));
    this.at += length;
  }
}

/** The next place of something, for places that are asked for in rising order. */
class Seeker {
  private readonly line: string;
  private readonly what: string;
  private found = -2;

  constructor(line: string, what: string) {
    this.line = line;
    this.what = what;
  }

  from(at: number): number {
    if (this.found === -1 || this.found >= at) return this.found;
    this.found = this.line.indexOf(this.what, at);
    return this.found;
  }
}

function runLength(line: string, at: number): number {
  let end = at;
  while (line[end] === line[at]) end += 1;
  return end - at;
}

/** Where runs of a character begin, by their length. */
function runsOf(line: string, character: string): Map<number, number[]> {
  const runs = new Map<number, number[]>();
  for (let at = line.indexOf(character); at !== -1;) {
    const length = runLength(line, at);
    const places = runs.get(length);
    if (places) places.push(at);
    else runs.set(length, [at]);
    at = line.indexOf(character, at + length);
  }
  return runs;
}

const isSpace = (character: string): boolean => character === ' ' || character === '\t' || character === '\u00a0';
const isWord = (character: string): boolean => /[\p{L}\p{N}]/u.test(character);
