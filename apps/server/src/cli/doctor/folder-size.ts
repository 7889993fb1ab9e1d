import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const mib = 2 ** 20;

export const sizeText = (sizeMib: number): string =>
  sizeMib >= 1024 ? `${(sizeMib / 1024).toFixed(1)} GiB` : `${Math.round(sizeMib)} MiB`;

/** A folder's disk usage without files that are counted already: holes take nothing. */
export async function sizeMib(folder: string, counted: Set<string>): Promise<number> {
  let blocks = 0;
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    // A file in the making may be gone again.
    const file = await stat(join(entry.parentPath, entry.name)).catch(() => null);
    const name = `${file?.dev}:${file?.ino}`;
    if (!file?.isFile() || counted.has(name)) continue;
    counted.add(name);
    blocks += file.blocks;
  }
  return (blocks * 512) / mib;
}
