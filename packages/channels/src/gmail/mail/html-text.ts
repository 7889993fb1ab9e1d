/** Text of a mail that has HTML alone. Each character is read a bounded number of times, whatever the mail contains. */

/** Their content is not shown. */
const unseen = new Set(['script', 'style', 'head', 'title', 'template', 'noscript', 'svg', 'math', 'object', 'iframe']);
const blocks = new Set(
  'address article aside blockquote center dd div dl dt fieldset footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table tr ul'.split(
    ' ',
  ),
);
const maxQuoteDepth = 8;
const maxTagChars = 16 * 1024;

export function htmlText(html: string): string {
  return new HtmlText(html).text();
}

class HtmlText {
  readonly #html: string;
  readonly #lines: string[] = [];
  #line = '';
  /** Or is empty. A look at the line itself would copy it each time. */
  #endsInSpace = true;
  #quoteDepth = 0;
  /** Searched texts that do not occur from here on. */
  readonly #missing = new Set<string>();

  constructor(html: string) {
    this.#html = html;
  }

  text(): string {
    for (let at = 0; at < this.#html.length;) {
      const open = this.#indexOf('<', at);
      this.#write(this.#html.slice(at, open));
      at = open === this.#html.length ? open : this.#tag(open);
    }
    this.#endLine();
    return this.#lines
      .join('\n')
      .replaceAll(/\n{3,}/g, '\n\n')
      .trim();
  }

  /** Reads what begins with `<` at `open`; gives the index behind it. */
  #tag(open: number): number {
    if (this.#html.startsWith('<!--', open)) return this.#behind('-->', open + 4);
    const next = this.#html.charCodeAt(open + 1);
    const isTag = next === 0x2f || next === 0x21 || next === 0x3f || isLetter(next);
    if (!isTag) {
      this.#write('<');
      return open + 1;
    }
    const end = this.#behind('>', open);
    const inside = this.#html.slice(open + 1, Math.min(end, open + maxTagChars));
    const isEnd = inside.startsWith('/');
    const name = /^[a-z0-9]+/.exec(inside.slice(isEnd ? 1 : 0, 32).toLowerCase())?.[0] ?? '';
    if (!isEnd && unseen.has(name)) return this.#behindElement(name, end);
    this.#element(name, isEnd);
    return end;
  }

  #element(name: string, isEnd: boolean): void {
    if (name === 'br') this.#endLine();
    else if (name === 'li') {
      this.#endLineIfAny();
      if (!isEnd) this.#begin('- ');
    } else if (name === 'td' || name === 'th') this.#write(' ');
    else if (blocks.has(name)) {
      this.#endLineIfAny();
      if (name === 'p' && isEnd) this.#endLine();
      if (name === 'blockquote') this.#quoteDepth = Math.max(0, this.#quoteDepth + (isEnd ? -1 : 1));
    }
  }

  #behindElement(name: string, from: number): number {
    if (this.#missing.has(name)) return this.#html.length;
    const closing = /<\/([a-z]{1,16})/gi;
    closing.lastIndex = from;
    for (let found = closing.exec(this.#html); found; found = closing.exec(this.#html)) {
      if (found[1]!.toLowerCase() === name) return this.#behind('>', found.index);
    }
    this.#missing.add(name);
    return this.#html.length;
  }

  #indexOf(text: string, from: number): number {
    const found = this.#missing.has(text) ? -1 : this.#html.indexOf(text, from);
    if (found === -1) this.#missing.add(text);
    return found === -1 ? this.#html.length : found;
  }

  #behind(text: string, from: number): number {
    return Math.min(this.#html.length, this.#indexOf(text, from) + text.length);
  }

  #write(text: string): void {
    if (text === '') return;
    const plain = withEntities(text).replaceAll(/[\s\u00a0]+/g, ' ');
    const added = this.#endsInSpace ? plain.trimStart() : plain;
    this.#line += added;
    if (added !== '') this.#endsInSpace = added.endsWith(' ');
  }

  #endLineIfAny(): void {
    if (this.#line.trim() !== '') this.#endLine();
    else this.#begin('');
  }

  #begin(line: '' | '- '): void {
    this.#line = line;
    this.#endsInSpace = true;
  }

  #endLine(): void {
    const depth = Math.min(maxQuoteDepth, this.#quoteDepth);
    this.#lines.push(depth === 0 ? this.#line.trimEnd() : `${'>'.repeat(depth)} ${this.#line.trimEnd()}`.trimEnd());
    this.#begin('');
  }
}

const isLetter = (code: number): boolean => (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  copy: '©',
  reg: '®',
  trade: '™',
  euro: '€',
  pound: '£',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  deg: '°',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
  ecirc: 'ê',
  agrave: 'à',
  aacute: 'á',
  acirc: 'â',
  ccedil: 'ç',
  ntilde: 'ñ',
  oacute: 'ó',
  iacute: 'í',
  uacute: 'ú',
  zwnj: '',
  zwj: '',
  shy: '',
};

function withEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(/&(#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z]{2,8});/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return Object.hasOwn(named, name) ? named[name]! : whole;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : '';
  });
}
