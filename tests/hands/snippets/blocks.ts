/** The code blocks of the documents. */
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const root = new URL('../../..', import.meta.url).pathname;

export interface Block {
  readonly file: string;
  readonly line: number;
  readonly language: 'sh' | 'js' | 'python' | 'json' | 'yaml' | 'text';
  readonly text: string;
  /** Why it is not run, in the words of its fence: three backticks, `sh not run: it starts a machine`. */
  readonly notRun: string | null;
}

const languages: Readonly<Record<string, Block['language']>> = {
  sh: 'sh',
  bash: 'sh',
  js: 'js',
  javascript: 'js',
  mjs: 'js',
  ts: 'js',
  python: 'python',
  py: 'python',
  json: 'json',
  yaml: 'yaml',
};

/** Files with snippets: the guides and what else newcomers read. */
export async function pagesWithBlocks(): Promise<Map<string, readonly Block[]>> {
  const files = ['README.md', 'packages/sdk/README.md', 'packages/sdk-python/README.md'];
  for await (const file of glob('docs/guides/**/*.md', { cwd: root })) files.push(file);
  const pages = new Map<string, readonly Block[]>();
  for (const file of files.sort()) {
    const text = await readFile(join(root, file), 'utf8').catch(() => null);
    if (text !== null) pages.set(file, blocksOf(file, text));
  }
  return pages;
}

/** Reads the fenced blocks of a page. */
export function blocksOf(file: string, page: string): Block[] {
  const blocks: Block[] = [];
  let open: { readonly line: number; readonly info: string; readonly indent: number; readonly lines: string[] } | null =
    null;
  for (const [index, line] of page.split('\n').entries()) {
    const fence = line.trimStart().startsWith('```');
    if (open === null && fence) {
      const info = line.trim().slice(3).trim();
      open = { line: index + 1, info, indent: line.length - line.trimStart().length, lines: [] };
    } else if (open !== null && fence) {
      const [word = '', ...rest] = open.info.split(' ');
      const note = rest.join(' ');
      if (note !== '' && !note.startsWith('not run: ')) throw new Error(`${file}:${open.line}: ${open.info}`);
      blocks.push({
        file,
        line: open.line,
        language: languages[word] ?? 'text',
        text: open.lines.join('\n'),
        notRun: note === '' ? null : note.slice('not run: '.length),
      });
      open = null;
    } else if (open !== null) open.lines.push(line.slice(open.indent));
  }
  return blocks;
}
