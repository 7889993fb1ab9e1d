/**
 * Comments and pages are whole sentences with a subject. A sentence that begins with "Of", "What", "Who" or "Whose" and asks
 * nothing has none, so this check refuses it.
 *
 *   node scripts/plain-sentences.ts [folder]     prints such sentences
 */
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';

const root = join(import.meta.dirname, '..');
const files = ['*.md', '{.ci,apps,benchmarks,docs,images,packages,scripts,tests}/**/*.{ts,tsx,mjs,sh,py,md}'];
const notOurs = /(?:^|\/)(?:node_modules|dist)(?:\/|$)/;
/** Its comments are the contract's descriptions, of fields. */
const generated = 'packages/sdk/src/types.ts';

/** Images are named by a hash of these files, comments included. A change there makes every image and template anew. */
const namesImages = new RegExp(
  [
    '^images/(?:base|hermes|openclaw)/',
    '^images/src/(?:assemble|debian|disk|drop|guestd-bundle|initrd|npm|processor|python|replace|tree)\\.ts$',
    '^images/src/debian-hook\\.sh$',
    '^apps/guestd/src/(?!.*(?:\\.test|/testing)\\.ts$)',
    '^packages/guest/src/(?:credential|frames|protocol)\\.ts$',
  ].join('|'),
);

interface Line {
  readonly number: number;
  readonly text: string;
}

export interface Sentence {
  /** Line of its first word, from 1. */
  readonly line: number;
  readonly text: string;
}

/** `path:line: sentence` for each sentence without a subject, below `folder`. */
export async function sentencesWithoutSubject(folder = ''): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const path of glob(files, { cwd: root, exclude: (name) => notOurs.test(name) })) {
    if (!path.startsWith(folder) || path === generated || namesImages.test(path)) continue;
    const sentences = withoutSubject(path, await readFile(join(root, path), 'utf8'));
    found.push(...sentences.map(({ line, text }) => `${path}:${line}: ${text}`));
  }
  return found.sort();
}

/** The sentences of one file that begin like a question and are none. */
export function withoutSubject(path: string, source: string): readonly Sentence[] {
  return paragraphsOf(path, source)
    .flatMap(sentencesOf)
    .filter(({ text }) => /^[("'`*_]*(?:Of|What|Who|Whose)\b/.test(text) && !/\?[)"'`*_]*$/.test(text));
}

function paragraphsOf(path: string, source: string): readonly Line[][] {
  if (path.endsWith('.md')) return paragraphs(pageLines(source));
  if (/\.(?:sh|py)$/.test(path)) return paragraphs(hashLines(source));
  return commentsOf(path, source).flatMap(paragraphs);
}

/** Splits lines at empty lines and before list items. */
function paragraphs(lines: readonly Line[]): Line[][] {
  const found: Line[][] = [[]];
  for (const { number, text } of lines) {
    const item = /^(?:[-*]|\d+\.|@\w+)\s+/.exec(text)?.[0] ?? '';
    if (text === '' || item !== '') found.push([]);
    if (text !== '') found.at(-1)!.push({ number, text: text.slice(item.length) });
  }
  return found.filter((lines) => lines.length > 0);
}

/** The text of a page: a table's cells stand alone; headings and code are left out. */
function pageLines(source: string): Line[] {
  let isCode = false;
  return source.split('\n').flatMap((raw, index) => {
    const text = raw.trim();
    const number = index + 1;
    const isFence = text.startsWith('```');
    if (isFence) isCode = !isCode;
    if (isFence || isCode || text.startsWith('#')) return [{ number, text: '' }];
    if (!text.startsWith('|')) return [{ number, text }];
    return text.split('|').flatMap((cell) => [
      { number, text: cell.trim() },
      { number, text: '' },
    ]);
  });
}

/** The comments of a shell or Python program that have a line of their own. */
function hashLines(source: string): Line[] {
  return source.split('\n').map((raw, index) => {
    const comment = /^\s*#(?!!)(.*)$/.exec(raw)?.[1] ?? '';
    return { number: index + 1, text: comment.trim() };
  });
}

/** The comments of a module; line comments below each other are one. */
function commentsOf(path: string, source: string): Line[][] {
  const lineOf = lineNumbers(source);
  const found: Line[][] = [];
  let lastOfLines = -1;
  for (const { type, value, start } of parseSync(path, source).comments) {
    const first = lineOf(start);
    const lines = value
      .split('\n')
      .map((text, index) => ({ number: first + index, text: text.replace(/^\s*\*(?!\*)/, '').trim() }));
    if (type === 'Line' && lastOfLines === first - 1) found.at(-1)!.push(...lines);
    else found.push(lines);
    lastOfLines = type === 'Line' ? first : -1;
  }
  return found;
}

/** A function that tells the line of an offset, for offsets that rise. */
function lineNumbers(source: string): (offset: number) => number {
  let line = 1;
  let at = 0;
  return (offset) => {
    for (; at < offset; at++) if (source[at] === '\n') line++;
    return line;
  };
}

function sentencesOf(lines: readonly Line[]): readonly Sentence[] {
  const sentences: { line: number; text: string }[] = [];
  for (const { number, text } of lines) {
    for (const part of text.split(/(?<=[.!?][)"'`*_]*)\s+/)) {
      const last = sentences.at(-1);
      if (last === undefined || /[.!?][)"'`*_]*$/.test(last.text)) sentences.push({ line: number, text: part });
      else last.text += ` ${part}`;
    }
  }
  return sentences;
}

if (import.meta.main) {
  const found = await sentencesWithoutSubject(process.argv[2]);
  for (const line of found) console.log(line);
  console.log(`${found.length} sentences without a subject`);
}
