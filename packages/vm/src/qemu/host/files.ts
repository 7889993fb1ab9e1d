import { access, open, readFile, readdir, rename, rm, writeFile, chmod, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ifThere } from '@lodge/domain';
import { VmError } from '@lodge/ports';

/** Makes a file's bytes, or a folder's names, survive a loss of power. */
export async function syncFile(path: string): Promise<void> {
  await using file = await open(path, 'r');
  await file.sync();
}

/** Returns the names in a folder; none when it is absent. */
export async function entries(path: string): Promise<string[]> {
  return (await ifThere(readdir(path))) ?? [];
}

/** Whether the path exists, as far as this process may see. */
export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Returns null for a file that is absent, or that a loss of power cut short. */
export async function readJson<T>(path: string): Promise<T | null> {
  const text = await ifThere(readFile(path, 'utf8'));
  try {
    return text === null ? null : (JSON.parse(text) as T);
  } catch {
    return null;
  }
}

/** Replaces a file of root's as a whole. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await replace(path, text, false);
}

/** Replaces a file of root's as a whole, and survives a loss of power from then on. */
export async function replaceFileForGood(path: string, text: string): Promise<void> {
  await replace(path, text, true);
  await syncFile(dirname(path));
}

async function replace(path: string, text: string, flush: boolean): Promise<void> {
  const draft = `${path}.new`;
  try {
    await writeFile(draft, text, { mode: 0o600, flush });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

const othersPass = 0o001;

/**
 * Makes a folder that VMs' users pass through on their way to their own files. Folders that Lodge makes are opened to them
 * (pass, not list); the folders above belong to somebody else and are only checked.
 */
export async function passableFolder(path: string): Promise<void> {
  if (!path.startsWith('/') || path.includes(',')) {
    throw new VmError('failed', `a folder for VMs must be an absolute path without a comma: ${path}`);
  }
  await mkdir(path, { recursive: true, mode: 0o711 });
  await chmod(path, ((await stat(path)).mode & 0o7777) | othersPass);
  for (let above = dirname(path); above !== dirname(above); above = dirname(above)) {
    if (((await stat(above)).mode & othersPass) === 0) {
      throw new VmError(
        'failed',
        `VMs run as users of their own and cannot pass ${above}: allow it (chmod o+x) or use another folder`,
      );
    }
  }
}
