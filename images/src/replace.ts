import { glob, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ImageError } from './errors.ts';

/** A change to a package's own text. */
export interface Replacement {
  /** Glob pattern, relative to `node_modules`, of the one file. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
}

/** Makes the replacements; a package that is no longer as they expect fails the build instead of going unchanged. */
export async function replaceText(folder: string, replacements: readonly Replacement[]): Promise<void> {
  for (const { file, from, to } of replacements) {
    const paths: string[] = [];
    for await (const path of glob(file, { cwd: folder })) paths.push(path);
    const text = paths.length === 1 ? await readFile(join(folder, paths[0]!), 'utf8') : '';
    if (text.split(from).length !== 2) {
      throw new ImageError(
        `the image recipe replaces ${JSON.stringify(from)} in ${file}, which is not there exactly once`,
      );
    }
    await writeFile(
      join(folder, paths[0]!),
      text.replace(from, () => to),
    );
  }
}
