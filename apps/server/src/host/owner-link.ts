import { linkPath } from '@lodge/domain';
import { createFirstOwnerLink, isOpenLink } from '@lodge/engine';
import type { Database } from '@lodge/store/database';
import { readPending, removePending, writePending } from './one-time-file.ts';
import { cryptography } from '@lodge/access';

export interface OwnerLink {
  /** The whole URL, below `origin`. */
  url(origin: string): string;
  /** Call it once the link was shown: from then on only its reader has the token. */
  shown(): Promise<void>;
}

const { tokens } = cryptography;

/**
 * Makes the link that gives the first account to a person, on a deployment that nobody can sign in to. Null ever after, and
 * for every process except one when several start at once; the operator can ask for a further one (`createOwnerLink`).
 *
 * `file` keeps the token from before it takes effect until `shown`, as `ensureFirstKey` does for the key.
 */
export async function ensureOwnerLink(database: Database, file: string): Promise<OwnerLink | null> {
  const pending = await readPending(file, (text) => tokens.isWellFormed(text));
  const token = pending ?? tokens.make();
  if (pending === null) await writePending(file, token);
  const hash = tokens.hash(token);
  const made = await createFirstOwnerLink(database, hash);
  const shown = (): Promise<void> => removePending(file);
  if (made || (pending !== null && (await isOpenLink(database, hash)))) {
    return { url: (origin) => origin + linkPath('owner', token), shown };
  }
  await shown();
  return null;
}
