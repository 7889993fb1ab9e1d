/**
 * Holds a secret for its one display, from before it takes effect until it was shown, so that a kill in between does not
 * lose it. Mode 0600, in a folder of this control plane alone.
 */
import { open, readFile, rm } from 'node:fs/promises';
import { ifThere } from '@lodge/domain';

/** Null when there is no file, or its text was cut off during the write and so never took effect. */
export async function readPending(file: string, isWhole: (text: string) => boolean): Promise<string | null> {
  const text = (await ifThere(readFile(file, 'utf8'))) ?? '';
  return isWhole(text) ? text : null;
}

export async function writePending(file: string, text: string): Promise<void> {
  await using handle = await open(file, 'w', 0o600);
  await handle.chmod(0o600);
  await handle.writeFile(text);
  await handle.sync();
}

export function removePending(file: string): Promise<void> {
  return rm(file, { force: true });
}
