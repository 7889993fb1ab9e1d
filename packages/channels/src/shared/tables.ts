import { fenceAfter } from './fence.ts';
import type { Fence } from './fence.ts';

/** A row of dashes makes the row above it a head. Longer lines are no tables. */
const maxRowChars = 2_000;

/** Puts Markdown's tables into code fences on a platform without tables, so that their columns stay aligned. One pass. */
export function tablesAsCode(markdown: string): string {
  if (!markdown.includes('|')) return markdown;
  const lines = markdown.split('\n');
  const out: string[] = [];
  let fence: Fence | null = null;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    const end = fence === null && isRow(line) && isRule(lines[at + 1] ?? '') ? endOfTable(lines, at) : at;
    if (end > at) {
      out.push('```', aligned(lines.slice(at, end)).join('\n'), '```');
      at = end - 1;
      continue;
    }
    if (line.length <= maxRowChars) fence = fenceAfter(line, fence);
    out.push(line);
  }
  return out.join('\n');
}

function endOfTable(lines: readonly string[], start: number): number {
  let end = start;
  while (end < lines.length && isRow(lines[end]!)) end += 1;
  return end;
}

const isRow = (line: string): boolean => line.length <= maxRowChars && line.includes('|') && !line.includes('```');

/** `|---|:-:|`, with at least one dash. */
const isRule = (line: string): boolean =>
  line.length <= maxRowChars && line.includes('-') && line.includes('|') && /^[\s|:-]+$/.test(line);

/** Pads cells to the widest of their column, unless that is very wide. */
function aligned(rows: readonly string[]): string[] {
  const cells = rows.filter((_, at) => at !== 1).map(cellsOf);
  const widths: number[] = [];
  for (const row of cells) {
    for (const [at, cell] of row.entries())
      widths[at] = Math.min(maxColumnChars, Math.max(widths[at] ?? 0, cell.length));
  }
  // A few wide rows among many short ones would make a text many times as long.
  const width = widths.reduce((sum, each) => sum + each + 2, 0);
  const given = rows.reduce((sum, row) => sum + row.length, 0);
  if (width * rows.length > 6 * given + 1_000) return [...rows];
  const shown = cells.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  );
  const rule = widths.map((width) => '-'.repeat(Math.max(width, 1))).join('  ');
  return [shown[0]!, rule, ...shown.slice(1)];
}

const maxColumnChars = 40;

function cellsOf(row: string): string[] {
  const trimmed = row.trim();
  const bare = trimmed.slice(trimmed.startsWith('|') ? 1 : 0, trimmed.endsWith('|') ? -1 : undefined);
  return bare.split('|').map((cell) => cell.trim().replaceAll('**', ''));
}
