/** The recipe's changes of a runtime's text, for a version that may have moved or rewritten it. */
import { readFile, glob } from 'node:fs/promises';
import { join } from 'node:path';
import { ImageError } from '../errors.ts';
import type { Replacement } from '../replace.ts';

/**
 * The content of `adapted/<runtime>/<version>.json`: replacements for changes that this version needs differently, or not at
 * all.
 */
export interface Adaptation {
  readonly instead: readonly {
    /** A change of the recipe, by its file and the beginning of its text. */
    readonly of: Pick<Replacement, 'file' | 'from'>;
    /** The changes in its place; none when the version needs no such change. */
    readonly by: readonly Replacement[];
  }[];
}

export function adapt(edits: readonly Replacement[], { instead }: Adaptation): readonly Replacement[] {
  let adapted: readonly Replacement[] = edits;
  for (const { of, by } of instead) {
    const isMeant = ({ file, from }: Replacement): boolean => file === of.file && from.startsWith(of.from);
    if (adapted.filter(isMeant).length !== 1) {
      throw new ImageError(`the adaptation names a change that the recipe does not have once: ${described(of)}`);
    }
    adapted = adapted.flatMap((edit) => (isMeant(edit) ? by : [edit]));
  }
  return adapted;
}

/**
 * Returns every change that cannot be made in the files of `folder`, in words. They are tried in order without writing,
 * because a later one may need an earlier one of its file.
 */
export async function missingEdits(folder: string, edits: readonly Replacement[]): Promise<readonly string[]> {
  const texts = new Map<string, string>();
  const missing: string[] = [];
  for (const [index, edit] of edits.entries()) {
    const paths: string[] = [];
    for await (const path of glob(edit.file, { cwd: folder })) paths.push(path);
    const path = paths[0];
    const text =
      path === undefined || paths.length > 1 ? null : (texts.get(path) ?? (await readFile(join(folder, path), 'utf8')));
    const parts = text?.split(edit.from) ?? [];
    if (path !== undefined && parts.length === 2) texts.set(path, parts.join(edit.to));
    else
      missing.push(
        `change ${index + 1} of ${edits.length}, ${described(edit)}: ${why(paths.length, parts.length - 1)}`,
      );
  }
  return missing;
}

const shownChars = 80;

function described({ file, from }: Pick<Replacement, 'file' | 'from'>): string {
  const text = from.trim().replaceAll(/\s+/g, ' ');
  return `${file} (“${text.length > shownChars ? `${text.slice(0, shownChars)}…` : text}”)`;
}

function why(files: number, places: number): string {
  if (files !== 1) return files === 0 ? 'there is no such file' : `there are ${files} such files`;
  return places <= 0 ? 'its text is not there' : `its text is there ${places} times`;
}
