import { chmod, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { VmError } from '@lodge/ports';

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
