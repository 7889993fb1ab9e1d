import { glob, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Removes what matches the patterns, relative to `folder`. */
export async function dropFiles(folder: string, patterns: readonly string[]): Promise<void> {
  if (patterns.length === 0) return;
  const matches: string[] = [];
  for await (const path of glob([...patterns], { cwd: folder })) matches.push(path);
  for (const path of matches) await rm(join(folder, path), { recursive: true, force: true });
}
