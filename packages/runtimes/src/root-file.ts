/** Files of root's in a guest, in which a runtime there reads an owner's settings. */
import { GuestError, ReplyTooLongError, type GuestClient } from '@lodge/guest';

export type RootFiles = Pick<GuestClient, 'readFile' | 'writeFile'>;

interface RootFile {
  readonly path: string;
  readonly wanted: string;
  /** Whether the settings are those of a guest without the file. Then it stays away where it never was. */
  readonly isNone: boolean;
}

/** Brings the file to the wanted text; a file that has it is not rewritten. */
export async function keepRootFile(
  guest: RootFiles,
  { path, wanted, isNone }: RootFile,
  signal: AbortSignal,
): Promise<void> {
  const text = await rootText(guest, path, 4 * wanted.length + 1_024, signal);
  if (text === wanted || (text === null && isNone)) return;
  await guest.writeFile(path, wanted, { mode: 0o644, owner: 'root' }, { signal });
}

/** Null where there is no file. Something longer, or no regular file, is read as an empty text. */
export async function rootText(
  guest: Pick<RootFiles, 'readFile'>,
  path: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    return Buffer.from(await guest.readFile(path, { signal, maxBytes })).toString();
  } catch (error) {
    if (error instanceof GuestError && error.status === 404) return null;
    if (isNoText(error)) return '';
    throw error;
  }
}

/** Whether the file is too long or not a regular file. */
export const isNoText = (error: unknown): boolean =>
  error instanceof ReplyTooLongError || (error instanceof GuestError && [409, 413].includes(error.status ?? 0));
