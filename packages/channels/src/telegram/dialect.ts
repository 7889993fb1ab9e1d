/**
 * Answers in Telegram's dialect. A text with Markdown goes as a rich message, which accepts Markdown nearly unchanged; any
 * other as plain text, which old clients show too. Source: core.telegram.org/bots/api#rich-markdown-style.
 */
import type { RenderedText } from '@lodge/ports';
import { fenceAfter } from '../shared/fence.ts';
import type { Fence } from '../shared/fence.ts';
import { emptyAnswer } from '../shared/plain.ts';
import { splitMarkdown, utf16Units } from '../shared/split.ts';
import type { Weigh } from '../shared/split.ts';

/** Bound on a plain message. Pieces of Markdown are no longer, so that one that Telegram refuses can go as plain text. */
export const maxTextChars = 4_096;

/** A rich message has at most 500 blocks, and a line may be one. */
const lineWeight = Math.ceil(maxTextChars / 480);
const weigh: Weigh = (codePoint) => (codePoint === 0x0a ? lineWeight : utf16Units(codePoint));

export const markdownFormat = 'markdown';

export function renderAnswer(markdown: string): readonly RenderedText[] {
  const pieces = splitMarkdown(markdown, maxTextChars, weigh);
  if (pieces.length === 0) return [{ text: emptyAnswer, format: null }];
  return pieces.map((text) => ({ text, format: hasMarks(text) ? markdownFormat : null }));
}

const marks = /[*_`~]|\]\(|^[ \t]{0,12}(?:>|\||#{1,6} )/m;
const hasMarks = (text: string): boolean => marks.test(text);

/**
 * Markdown as Telegram is to read it. Outside code it takes the meaning from what an agent does not mean: `$` of prices (formulas),
 * `==` and `||` (marked and hidden text), tags (buttons, maps, logins), and pictures, which Telegram would fetch.
 */
export function richMarkdown(markdown: string): string {
  let fence: Fence | null = null;
  return markdown
    .split('\n')
    .map((line) => {
      const before = fence;
      fence = fenceAfter(line, fence);
      return before === null && fence === null ? escapeLine(line) : line;
    })
    .join('\n');
}

function escapeLine(line: string): string {
  // The line below a heading, and rows of a table with empty cells.
  if (/^=+\s*$/.test(line)) return line;
  const isRow = line.trimStart().startsWith('|');
  const codeEnds = endsOfCode(line);
  let escaped = '';
  for (let at = 0; at < line.length;) {
    const step = stepAt(line, at, isRow, codeEnds);
    escaped += step.text;
    at = step.next;
  }
  return escaped;
}

interface Step {
  readonly text: string;
  readonly next: number;
}

function stepAt(line: string, at: number, isRow: boolean, codeEnds: ReadonlyMap<number, number>): Step {
  const character = line[at]!;
  const following = line[at + 1];
  switch (character) {
    case '\\':
      return { text: line.slice(at, at + 2), next: at + 2 };
    case '`': {
      const next = codeEnds.get(at) ?? at + 1;
      return { text: line.slice(at, next), next };
    }
    case '$':
      return dollarAt(line, at);
    case '<':
      return { text: beginsTag(line, at) ? '\\<' : '<', next: at + 1 };
    case '!':
      if (following !== '[') break;
      return line[at + 2] === ']' ? { text: '[image', next: at + 2 } : { text: '', next: at + 1 };
    case '=':
      return following === '=' ? { text: '\\=\\=', next: at + 2 } : { text: '=', next: at + 1 };
    case '|':
      return following === '|' && !isRow ? { text: '\\|\\|', next: at + 2 } : { text: '|', next: at + 1 };
    default:
  }
  return { text: character, next: at + 1 };
}

/**
 * Maps each run of backquotes that opens code to the place behind the run that closes it. Other runs map to the place behind
 * themselves.
 */
function endsOfCode(line: string): ReadonlyMap<number, number> {
  const runs: { readonly start: number; readonly length: number }[] = [];
  for (let at = line.indexOf('`'); at !== -1;) {
    let end = at;
    while (line[end] === '`') end += 1;
    runs.push({ start: at, length: end - at });
    at = line.indexOf('`', end);
  }
  const ends = new Map<number, number>();
  const later = new Map<number, number>();
  for (const { start, length } of runs.toReversed()) {
    ends.set(start, later.get(length) ?? start + length);
    later.set(length, start + length);
  }
  return ends;
}

function dollarAt(line: string, at: number): Step {
  if (line[at + 1] === '$') return { text: '$$', next: at + 2 };
  const end = line.indexOf('$', at + 1);
  const formula = end === -1 ? '' : line.slice(at + 1, end);
  const isClosed = formula !== '' && !/^\s|[\s\\]$/.test(formula) && !/\d/.test(line[end + 1] ?? '');
  if (isClosed && (/[\\^_{}=]/.test(formula) || /^[a-z]$/i.test(formula))) {
    return { text: line.slice(at, end + 1), next: end + 1 };
  }
  return { text: '\\$', next: at + 1 };
}

const beginsTag = (line: string, at: number): boolean =>
  /^<[a-z/!?]/i.test(line.slice(at, at + 2)) && !/^<(?:https?:\/\/|mailto:)/i.test(line.slice(at, at + 10));
