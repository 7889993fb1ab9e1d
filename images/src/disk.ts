import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DiskRecipe } from './recipe.ts';
import { run, type RunContext } from './run.ts';

const diskMs = 15 * 60_000;
const bytesPerGib = 1024 ** 3;

/**
 * A qcow2 file of `sizeGib` virtual size with an ext4 of `tree` in it. Of what is empty nothing is stored, neither now nor
 * when the guest first mounts it: the inode tables count as zeroed already (or the kernel would zero them in the background,
 * in the disk of every agent), and the journal is small.
 */
export async function makeDisk(
  recipe: DiskRecipe,
  tree: string,
  scratch: string,
  file: string,
  context: RunContext,
): Promise<void> {
  const raw = join(scratch, 'root.raw');
  await using handle = await open(raw, 'w');
  await handle.truncate(recipe.sizeGib * bytesPerGib);
  const tool = { timeoutMs: diskMs, advice: 'Check that the disk of the cache folder has room.' };
  const features = ['-E', 'assume_storage_prezeroed=1', '-J', `size=${recipe.journalMib}`];
  const argv = [
    'mke2fs',
    '-q',
    '-t',
    'ext4',
    '-m',
    String(recipe.reservedPercent),
    ...features,
    '-d',
    tree,
    raw,
  ] as const;
  await run({ argv, ...tool }, context);
  await run({ argv: ['qemu-img', 'convert', '-O', 'qcow2', raw, file], ...tool }, context);
  await rm(raw);
}
