/** A sync leaves out what the folder's `.gitignore` and `.lodgeignore` name, and `.git`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ignore from 'ignore';

/** True for what is left out, by its path relative to the folder, with slashes. */
export type Ignored = (path: string, isFolder: boolean) => boolean;

const maxRuleBytes = 1024 * 1024;

export async function ignoredOf(folder: string): Promise<Ignored> {
  const rules = ignore().add('.git/');
  for (const name of ['.gitignore', '.lodgeignore']) {
    const text = await readFile(join(folder, name), 'utf8').catch(() => '');
    rules.add(text.slice(0, maxRuleBytes));
  }
  return (path, isFolder) => rules.ignores(isFolder ? `${path}/` : path);
}
