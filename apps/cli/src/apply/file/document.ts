/** Reads the files of agents: YAML or JSON, one or several documents in each, and the lines at which values stand. */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { LineCounter, isAlias, isMap, isNode, isScalar, isSeq, parseAllDocuments } from 'yaml';
import type { Document, Node } from 'yaml';
import { usageError } from '../../failure.ts';
import type { Run } from '../../run.ts';
import { quoted } from '../../terminal/safe.ts';
import { readText } from '../../values.ts';
import type { Path } from './check.ts';

const maxFiles = 200;
const maxDocuments = 200;
/** Most aliases, which would let a small file become a huge one. */
const maxAliases = 100;
/** Tried in this order where no file is named. */
const usual = ['agents.yaml', 'agents.yml', 'agents.json'];

export interface Problem {
  readonly file: string;
  readonly line: number | null;
  /** Such as `agents[0].model`. */
  readonly path: string;
  readonly message: string;
}

/** One document of a file. */
export interface Source {
  /** The file as it was named. */
  readonly file: string;
  /** Paths in the file begin here. */
  readonly folder: string;
  readonly value: unknown;
  /** Returns the line of a value, or of its key. */
  lineOf(path: Path, isKey?: boolean): number | null;
}

export interface Read {
  readonly sources: readonly Source[];
  readonly problems: readonly Problem[];
}

/** Reads all files; a folder has its `*.yaml`, `*.yml` and `agents.json`, and `-` is stdin. */
export async function readSources(run: Run, named: readonly string[] | undefined): Promise<Read> {
  const files = await filesOf(named ?? [await usualFile()]);
  if (files.length > maxFiles) throw usageError(`There are more than ${maxFiles} files.`);
  const all: Read[] = [];
  for (const file of files) all.push(parsed(file, await readText(run, file)));
  return { sources: all.flatMap(({ sources }) => sources), problems: all.flatMap(({ problems }) => problems) };
}

async function usualFile(): Promise<string> {
  for (const name of usual) if (await stat(name).catch(() => null)) return name;
  throw usageError('There is no agents.yaml here.', 'Name a file or a folder: lodge apply -f agents.yaml');
}

async function filesOf(named: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const name of named) {
    const found = name === '-' ? null : await stat(name).catch(() => null);
    if (!found?.isDirectory()) files.push(name);
    else files.push(...(await filesIn(name)));
  }
  return [...new Set(files)];
}

async function filesIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => /\.ya?ml$/i.test(name) || name === 'agents.json');
  if (names.length === 0) throw usageError(`${quoted(folder)} has no *.yaml.`);
  return names.toSorted().map((name) => join(folder, name));
}

function parsed(file: string, text: string): Read {
  const lines = new LineCounter();
  const shown = file === '-' ? 'stdin' : file;
  const folder = file === '-' ? process.cwd() : dirname(resolve(file));
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const sources: Source[] = [];
  const problems: Problem[] = [];
  const note = (offset: number, message: string): void => {
    problems.push({ file: shown, line: lines.linePos(offset).line, path: '', message });
  };
  if (!Array.isArray(documents))
    return { sources, problems: [{ file: shown, line: null, path: '', message: 'is empty' }] };
  if (documents.length > maxDocuments) throw usageError(`${quoted(basename(shown))} has too many documents.`);
  for (const document of documents) {
    for (const { pos, message } of document.errors) note(pos[0], message);
    if (document.errors.length > 0 || document.contents === null) continue;
    try {
      const value: unknown = document.toJS({ maxAliasCount: maxAliases });
      sources.push({ file: shown, folder, value, lineOf: (path, isKey) => lineOf(document, lines, path, isKey) });
    } catch (error) {
      note(document.range[0], error instanceof Error ? error.message : 'cannot be read');
    }
  }
  return { sources, problems };
}

/** Returns the line of the value that the path leads to, or of the last one on the way. */
function lineOf(document: Document.Parsed, lines: LineCounter, path: Path, isKey = false): number | null {
  let node: Node | null = document.contents;
  let offset = node?.range?.[0];
  for (const [at, step] of path.entries()) {
    if (isAlias(node)) node = (node.resolve(document) as Node | undefined) ?? null;
    const next: { readonly key: unknown; readonly value: unknown } | undefined = isMap(node)
      ? node.items.find(({ key }) => (isScalar(key) ? String(key.value) : key) === String(step))
      : isSeq(node)
        ? { key: null, value: node.items[Number(step)] }
        : undefined;
    if (next === undefined) break;
    const { key, value } = next;
    // A text of several lines begins behind its key, which is what a person looks for.
    const isLast = at === path.length - 1;
    const shown = isNode(key) && (isKey || isLast) ? key : isNode(value) ? value : key;
    if (isNode(shown)) offset = shown.range?.[0] ?? offset;
    node = isNode(value) ? value : null;
  }
  return offset === undefined ? null : lines.linePos(offset).line;
}

/** Writes a path as a person does: `agents[0].channels.slack`. */
export function pathText(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[\w-]{1,64}$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${quoted(step.slice(0, 64))}]`;
  }
  return text;
}
