/** The files of an image from its parts: `kernel`, `initrd` and `root-<hash>.qcow2`. */
import { copyFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReportProgress } from '@lodge/ports';
import { sha256File } from './artifact.ts';
import { makeDisk } from './disk.ts';
import { makeInitrd } from './initrd.ts';
import { foundation, type Layer } from './recipe.ts';
import type { RunContext } from './run.ts';
import { makeTree, type LayerTars } from './tree.ts';

export const imageFiles = { kernel: 'kernel', initrd: 'initrd' } as const;

/**
 * The root disk's name has its hash in it. An image that is built a second time (the first was damaged) is not the same bytes
 * at the same places, and a disk that lies over the first one must not open the second.
 */
export const rootDiskName = (sha256: string): string => `root-${sha256.slice(0, 16)}.qcow2`;

export interface ImageParts {
  readonly layers: readonly [Layer, ...Layer[]];
  readonly tars: ReadonlyMap<string, LayerTars>;
  readonly kernel: string;
  readonly modulesTar: string;
  readonly guestd: string;
}

export async function assemble(
  parts: ImageParts,
  draft: string,
  scratch: string,
  progress: ReportProgress,
  context: RunContext,
): Promise<void> {
  const { layers, tars, guestd, modulesTar } = parts;
  const { debian, disk } = foundation(layers);
  const tree = join(scratch, 'root');
  progress('putting the guest together', 0);
  await makeTree(layers, tars, guestd, tree, context);
  await copyFile(parts.kernel, join(draft, imageFiles.kernel));
  await makeInitrd(layers[0], debian, { tree, modulesTar }, scratch, join(draft, imageFiles.initrd), context);
  progress('writing the disk', 0.4);
  const unnamed = join(scratch, 'root.qcow2');
  await makeDisk(disk, tree, scratch, unnamed, context);
  progress('checking the disk', 0.9);
  await rename(unnamed, join(draft, rootDiskName(await sha256File(unnamed))));
}
