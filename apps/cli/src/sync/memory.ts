/** A sync remembers for its next run how each file was in the workspace when both sides were the same. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writePrivate } from '../context/folder.ts';

const maxBytes = 64 * 1024 * 1024;

export class Memory {
  readonly etags: Map<string, string>;
  readonly #path: string;

  private constructor(path: string, etags: Map<string, string>) {
    this.#path = path;
    this.etags = etags;
  }

  /** A memory for each pair of folders. One that cannot be read is empty: then nothing is written over. */
  static async open(settings: string, pair: readonly string[]): Promise<Memory> {
    const name = createHash('sha256').update(pair.join('\n')).digest('hex').slice(0, 32);
    const path = join(settings, 'sync', `${name}.json`);
    const text = await readFile(path, 'utf8').catch(() => '{}');
    return new Memory(path, new Map(entriesOf(text)));
  }

  async save(): Promise<void> {
    await writePrivate(this.#path, JSON.stringify(Object.fromEntries(this.etags)));
  }
}

function entriesOf(text: string): [string, string][] {
  try {
    const value: unknown = text.length > maxBytes ? {} : JSON.parse(text);
    return Object.entries(value as object).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  } catch {
    return [];
  }
}
