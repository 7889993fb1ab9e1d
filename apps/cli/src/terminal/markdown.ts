/** Markdown as a terminal shows it. The text is an agent's: it is made harmless piece by piece, and what fails is shown plain. */
import { Lexer } from 'marked';
import type { Token, Tokens } from 'marked';
import type { Output, Style } from './output.ts';
import { safeLine, safeText } from './safe.ts';
import { table } from './table.ts';
import { width } from './width.ts';

/** A longer block is shown plain, and one that is nested deeper. */
const maxChars = 16 * 1024;
const maxDepth = 12;

/** A piece of a paragraph with its looks. */
interface Span {
  readonly text: string;
  readonly styles: readonly Style[];
}

/** Returns the lines of one or several blocks, each with a line feed. */
export function markdown(text: string, out: Output): string {
  if (text.length > maxChars || isDeep(text)) return withEnd(safeText(text));
  try {
    const lines = blocks(new Lexer().lex(text), out, out.columns, 0);
    return lines.map((line) => `${line}\n`).join('');
  } catch {
    return withEnd(safeText(text));
  }
}

const withEnd = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

/** Whether quotes or brackets are nested so deeply that reading them takes long. */
function isDeep(text: string): boolean {
  let run = 0;
  for (const character of text) {
    if ('>[]*_`~('.includes(character)) run += 1;
    else if (character !== ' ' && character !== '\n') run = 0;
    if (run > 64) return true;
  }
  return false;
}

function blocks(tokens: readonly Token[], out: Output, columns: number, depth: number): string[] {
  const lines: string[] = [];
  for (const token of tokens) {
    const made = block(token, out, columns, depth);
    if (made.length === 0) continue;
    if (lines.length > 0 && depth === 0) lines.push('');
    lines.push(...made);
  }
  return lines;
}

function block(token: Token, out: Output, columns: number, depth: number): string[] {
  if (depth > maxDepth) return safeText(token.raw).split('\n');
  switch (token.type) {
    case 'space':
    case 'def':
      return [];
    case 'heading':
      return laidOut(spans((token as Tokens.Heading).tokens, ['bold', 'underline']), out, columns);
    case 'code':
      return safeText((token as Tokens.Code).text)
        .split('\n')
        .map((line) => `  ${out.paint('cyan', line)}`);
    case 'blockquote':
      return blocks((token as Tokens.Blockquote).tokens, out, columns - 2, depth + 1).map(
        (line) => `${out.paint('dim', '|')} ${line}`,
      );
    case 'list':
      return list(token as Tokens.List, out, columns, depth);
    case 'hr':
      return [out.paint('dim', '-'.repeat(Math.min(columns, 40)))];
    case 'table':
      return tableLines(token as Tokens.Table, out);
    default:
      return laidOut(
        'tokens' in token && token.tokens ? spans(token.tokens, []) : [plain(token.raw, [])],
        out,
        columns,
      );
  }
}

function list({ ordered, start, items }: Tokens.List, out: Output, columns: number, depth: number): string[] {
  const first = typeof start === 'number' ? start : 1;
  return items.flatMap(({ task, checked, tokens }, at) => {
    const bullet = ordered ? `${first + at}.` : '•';
    const mark = task ? `${bullet} [${checked ? 'x' : ' '}]` : bullet;
    const room = ' '.repeat(width(mark) + 1);
    const shown = tokens.filter(({ type }) => type !== 'checkbox');
    const lines = blocks(shown, out, Math.max(10, columns - room.length), depth + 1);
    return (lines.length === 0 ? [''] : lines).map((line, row) => (row === 0 ? `${mark} ${line}` : `${room}${line}`));
  });
}

function tableLines({ header, rows }: Tokens.Table, out: Output): string[] {
  const columns = header.map((cell, at) => ({
    title: plainText(cell.tokens),
    value: (row: readonly Tokens.TableCell[]) => plainText(row[at]?.tokens ?? []),
  }));
  const form = { columns: out.columns, heading: (text: string) => out.paint('bold', text) };
  return table(rows, columns, form).trimEnd().split('\n');
}

const plainText = (tokens: readonly Token[]): string =>
  spans(tokens, [])
    .map(({ text }) => text)
    .join('');

function spans(tokens: readonly Token[], styles: readonly Style[], depth = 0): Span[] {
  return tokens.flatMap((token): Span[] => {
    if (depth > maxDepth) return [plain(token.raw, styles)];
    const inner = (more: readonly Style[]): Span[] =>
      spans(('tokens' in token && token.tokens) || [], [...styles, ...more], depth + 1);
    switch (token.type) {
      case 'strong':
        return inner(['bold']);
      case 'em':
        return inner(['italic']);
      case 'del':
        return inner(['strike']);
      case 'codespan':
        return [plain((token as Tokens.Codespan).text, [...styles, 'cyan'])];
      case 'br':
        return [{ text: '\n', styles }];
      case 'link':
        return linkSpans(token as Tokens.Link, inner(['underline']), styles);
      case 'image':
        return [plain(`${(token as Tokens.Image).text} (${(token as Tokens.Image).href})`, styles)];
      case 'escape':
        return [plain((token as Tokens.Escape).text, styles)];
      default:
        return 'tokens' in token && token.tokens
          ? inner([])
          : [plain('text' in token ? String(token.text) : token.raw, styles)];
    }
  });
}

/** The address of a link is always shown: its text may name another. */
function linkSpans({ href, text }: Tokens.Link, shown: readonly Span[], styles: readonly Style[]): Span[] {
  return text === href ? [...shown] : [...shown, plain(` (${href})`, [...styles, 'dim'])];
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

const plain = (text: string, styles: readonly Style[]): Span => ({
  text: safeText(text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity]!)),
  styles,
});

/** Breaks spans into lines at spaces. A word that is wider than a line is left to the terminal. */
function laidOut(all: readonly Span[], out: Output, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  let space = '';
  const end = (): void => {
    lines.push(line);
    [line, used, space] = ['', 0, ''];
  };
  for (const { text, styles } of all) {
    for (const piece of text.split(/(\n| )/)) {
      if (piece === '') continue;
      if (piece === '\n' && styles.length === 0 && space === '' && used === 0) continue;
      if (piece === '\n' || piece === ' ') {
        space = used > 0 ? ' ' : '';
        if (piece === '\n' && text === '\n') end();
        continue;
      }
      const wide = width(piece);
      if (used > 0 && space !== '' && used + 1 + wide > columns) end();
      line += space + styled(piece, styles, out);
      used += space.length + wide;
      space = '';
    }
  }
  if (used > 0 || lines.length === 0) lines.push(line);
  return lines;
}

const styled = (text: string, styles: readonly Style[], out: Output): string =>
  styles.reduce((made, style) => out.paint(style, made), safeLine(text, maxChars));
