/** A code fence of Markdown: the text that opens it again after a cut, and the text that ends it before one. */
export interface Fence {
  readonly opening: string;
  readonly closing: string;
  readonly mark: '`' | '~';
  readonly length: number;
}

const maxLanguageChars = 40;
const maxIndent = 16;

/** The fence that is open after a line, where `open` was before it. Null: none. */
export function fenceAfter(line: string, open: Fence | null): Fence | null {
  let indent = 0;
  while (line[indent] === ' ' || line[indent] === '\t') indent += 1;
  const mark = line[indent];
  if (mark !== '`' && mark !== '~') return open;
  let end = indent;
  while (line[end] === mark) end += 1;
  const length = end - indent;
  const rest = line.slice(end).trim();
  if (open) return mark === open.mark && length >= open.length && rest === '' ? null : open;
  // Three marks around something are code within a line.
  if (length < 3 || indent > maxIndent || (mark === '`' && rest.includes('`'))) return null;
  const [language = ''] = /^[\w+#.-]*/.exec(rest.slice(0, maxLanguageChars)) ?? [];
  const before = line.slice(0, end);
  return { opening: before + language, closing: before, mark, length };
}
