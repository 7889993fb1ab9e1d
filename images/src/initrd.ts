import { chmod, copyFile, glob, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DebianRecipe, Layer } from './recipe.ts';
import { run, type RunContext } from './run.ts';

const shortMs = 60_000;

/** An initrd with the static busybox of the guest's own tree, the virtio drivers, and the recipe's `initrd/init`. */
export async function makeInitrd(
  layer: Layer,
  recipe: DebianRecipe,
  parts: { readonly tree: string; readonly modulesTar: string },
  scratch: string,
  file: string,
  context: RunContext,
): Promise<void> {
  const root = join(scratch, 'initrd');
  for (const folder of ['bin', 'modules', 'dev', 'proc', 'sys', 'new']) {
    await mkdir(join(root, folder), { recursive: true });
  }
  await copyFile(join(parts.tree, 'bin/busybox'), join(root, 'bin/busybox'));
  await copyFile(join(layer.folder, 'initrd/init'), join(root, 'init'));
  for (const path of ['bin/busybox', 'init']) await chmod(join(root, path), 0o755);
  await writeFile(join(root, 'modules/order'), recipe.modules.map((name) => `${name}\n`).join(''));
  const tool = { timeoutMs: shortMs, advice: 'Check that the disk has room.' };
  await run({ argv: ['tar', '--extract', '--file', parts.modulesTar, '-C', join(root, 'modules')], ...tool }, context);
  const names: string[] = [];
  for await (const name of glob('**/*', { cwd: root })) names.push(name);
  // Not compressed: a few megabytes are read faster than an emulated guest unpacks them.
  const argv = ['cpio', '--create', '--format=newc', '--owner=+0:+0', '--quiet', `--file=${file}`] as const;
  await run({ argv, cwd: root, stdin: `${names.sort().join('\n')}\n`, ...tool }, context);
}
