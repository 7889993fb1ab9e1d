/**
 * Templates that agents lie over, for a backup. Each stands alone in the data folder, and its files may be put into another
 * data folder as they are: a file with another inode there is read and compared before its first use.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { VmError } from '@lodge/ports';

export interface PortableTemplate {
  readonly id: string;
  readonly folder: { readonly mode: number; readonly uid: number; readonly gid: number };
  readonly files: readonly { readonly name: string; readonly path: string }[];
}

/**
 * Returns null when the template is not in the data folder. It is found by its id, never by a path in a disk that the
 * guest's emulator writes to.
 */
export async function portableTemplate(dataDir: string, id: string): Promise<PortableTemplate | null> {
  if (!/^[a-z0-9]+-[a-z0-9]+$/.test(id)) throw new VmError('template_missing', `not a template id: ${id}`);
  const path = join(dataDir, 'templates', id);
  const found = await stat(path).catch(() => null);
  if (found === null) return null;
  const there = await readdir(path, { withFileTypes: true });
  const names = there.filter((entry) => entry.isFile()).map(({ name }) => name);
  return {
    id,
    folder: { mode: found.mode & 0o777, uid: found.uid, gid: found.gid },
    files: names.toSorted().map((name) => ({ name, path: join(path, name) })),
  };
}
