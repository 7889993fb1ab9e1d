import { writeFile } from 'node:fs/promises';
import type { GuestClient } from '@lodge/guest';
export async function writeListing(guest: GuestClient, folder: string, path: string, signal: AbortSignal): Promise<void> {
  const { stdout } = await guest.execCollected({ argv: ['find', folder, '-printf', '%y %s %T@ %p\\n'], user: 'root', timeoutMs: 10_000 }, { signal });
  await writeFile(path, stdout, { mode: 0o600 });
}
