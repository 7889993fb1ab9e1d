/** Markdown in WhatsApp's own marks, in pieces that it takes. Headings are bold, tables are lists, fences stay. */
import type { RenderedText } from '@lodge/ports';
import { fenceAfter } from '../../shared/fence.ts';
import type { Fence } from '../../shared/fence.ts';
import { emptyAnswer } from '../../shared/plain.ts';
import { splitMarkdown } from '../../shared/split.ts';
import { inlineMarks } from './inline.ts';

/**
 * Bound on a message, in UTF-16 units. The Cloud API's limit; none is published for linked devices, which are known to take
 * more.
 */
export const maxTextChars = 4_096;
/** Bound on a table, because names are repeated in each row. */
const maxColumns = 20;
const maxColumnChars = 30;

export function render(markdown: string): readonly RenderedText[] {
  const pieces = splitMarkdown(dialect(markdown), maxTextChars);
  return (pieces.length > 0 ? pieces : [emptyAnswer]).map((text) => ({ text, format: null }));
}

function dialect(markdown: string): string {
  const lines = markdown.split(/\r?\n/);
  const out: string[] = [];
  let fence: Fence | null = null;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    const after = fenceAfter(line, fence);
    if (fence !== null || after !== null) {
      // WhatsApp knows no languages: the name would be the first line of the code.
      out.push((fence === null) === (after === null) ? withoutFence(line) : '```');
      fence = after;
      continue;
    }
    const columns = isTableRule(lines[at + 1] ?? '') ? cellsOf(line) : [];
    if (columns.length > 0) {
      at = pushTable(lines, at + 2, columns, out) - 1;
    } else out.push(lineOf(line));
  }
  if (fence !== null) out.push('```');
  return out.join('\n');
}

/** Code that would end the fence for WhatsApp, though not for Markdown. */
const withoutFence = (line: string): string => (line.includes('```') ? line.replaceAll('```', "'''") : line);

function lineOf(line: string): string {
  const start = line.length - line.trimStart().length;
  let level = start;
  while (level < start + 6 && line[level] === '#') level += 1;
  if (level > start && line[level] === ' ') {
    const title = inlineMarks(withoutTrailingHashes(line.slice(level).trim()), true).trim();
    return title === '' ? '' : `*${title}*`;
  }
  if (isRule(line)) return '———';
  // A list's mark is no emphasis.
  if (line[start] === '*' && line[start + 1] === ' ')
    return `${line.slice(0, start)}- ${inlineMarks(line.slice(start + 2))}`;
  return inlineMarks(line);
}

function withoutTrailingHashes(title: string): string {
  let end = title.length;
  while (end > 0 && title[end - 1] === '#') end -= 1;
  return end < title.length && (end === 0 || title[end - 1] === ' ') ? title.slice(0, end).trimEnd() : title;
}

/** Three or more of `-`, `*` or `_`, and nothing else but spaces. */
function isRule(line: string): boolean {
  let mark = '';
  let count = 0;
  for (const character of line) {
    if (character === ' ') continue;
    if (!'-*_'.includes(character) || (mark !== '' && character !== mark)) return false;
    mark = character;
    count += 1;
  }
  return count >= 3;
}

/** The second line of a table: `| --- | :-: |`. */
function isTableRule(line: string): boolean {
  let hasDash = false;
  let hasBar = false;
  for (const character of line) {
    if (character === '-') hasDash = true;
    else if (character === '|') hasBar = true;
    else if (character !== ':' && character !== ' ' && character !== '\t') return false;
  }
  return hasDash && hasBar;
}

/** The index of the line after the table. */
function pushTable(lines: readonly string[], from: number, columns: readonly string[], out: string[]): number {
  const names = columns.map((name) => inlineMarks(name, true).slice(0, maxColumnChars));
  let at = from;
  for (; at < lines.length && lines[at]!.includes('|'); at += 1) {
    const cells = cellsOf(lines[at]!).map((cell) => inlineMarks(cell));
    const parts = cells.flatMap((cell, column) => {
      if (cell === '') return [];
      const name = names[column] ?? '';
      return [name === '' ? cell : `${name}: ${cell}`];
    });
    if (parts.length > 0) out.push(`- ${parts.join('; ')}`);
  }
  return at;
}

/** Cells of a row, trimmed; the last one holds what is beyond the most columns. Empty: the line is no row. */
function cellsOf(line: string): string[] {
  const inner = line.trim();
  if (!inner.includes('|')) return [];
  const cells: string[] = [];
  let start = inner.startsWith('|') ? 1 : 0;
  const end = inner.endsWith('|') && inner.length > start ? inner.length - 1 : inner.length;
  for (let at = start; at < end && cells.length < maxColumns - 1; at += 1) {
    if (inner[at] === '\\') at += 1;
    else if (inner[at] === '|') {
      cells.push(inner.slice(start, at).trim());
      start = at + 1;
    }
  }
  cells.push(inner.slice(start, end).trim());
  return cells;
}
