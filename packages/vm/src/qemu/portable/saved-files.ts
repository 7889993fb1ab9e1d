/**
 * Files of saved machines, for a backup beside a running driver. They are only read once they are there, so a backup takes them
 * as they lie. Each gets one more name in `staging` meanwhile: a machine may be freed, and its pages get another form.
 */
import { link, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { wasThere } from '@lodge/domain';
import { entries } from '../host/files.ts';
import { fileNames, isSavedId, manifestName, readManifest } from '../saved/machine/manifest.ts';

export interface SavedFiles {
  readonly id: string;
  readonly agentId: string;
  readonly templateId: string;
  /** By their names in the machine's folder, with where they lie now. */
  readonly files: readonly { readonly name: string; readonly path: string }[];
}

/** A machine whose form changes each time is changed by nobody of Lodge. */
const maxTries = 5;

export async function savedIds(dataDir: string): Promise<string[]> {
  return (await entries(join(dataDir, 'saved'))).filter(isSavedId).toSorted();
}

/**
 * Links the files of one saved machine into `staging`, which is on the data folder's file system; the caller removes them.
 * Returns null when it was freed, or is damaged.
 */
export async function stageSaved(dataDir: string, staging: string, id: string): Promise<SavedFiles | null> {
  const folder = join(dataDir, 'saved', id);
  const staged = join(staging, 'saved', id);
  for (let tries = 0; tries < maxTries; tries += 1) {
    const manifest = await readManifest(folder).catch(() => null);
    if (manifest === null) return null;
    await rm(staged, { recursive: true, force: true });
    await mkdir(staged, { recursive: true, mode: 0o700 });
    const names = [manifestName, ...fileNames(manifest)];
    const linked = await Promise.all(names.map((name) => wasThere(link(join(folder, name), join(staged, name)))));
    const now = await readManifest(staged).catch(() => null);
    if (linked.every(Boolean) && JSON.stringify(now) === JSON.stringify(manifest)) {
      const { agentId, templateId } = manifest;
      return { id, agentId, templateId, files: names.map((name) => ({ name, path: join(staged, name) })) };
    }
  }
  await rm(staged, { recursive: true, force: true });
  return null;
}
