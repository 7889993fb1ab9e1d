import { scopes } from '@lodge/domain';
import { createFirstAccount, isKey } from '@lodge/engine';
import type { Database } from '@lodge/store/database';
import { hashApiKey, isWellFormedApiKey, lastFour, makeApiKey } from '@lodge/access';
import { readPending, removePending, writePending } from './one-time-file.ts';

export interface FirstKey {
  readonly plaintext: string;
  /** Call it once the key was shown: from then on only its reader has the plaintext. */
  shown(): Promise<void>;
}

/**
 * Makes the first account with a key that has every scope, on a deployment without an account. Null ever after, and for
 * every process except one when several start at once. Account and key are one transaction.
 *
 * Nobody can make another key yet, so the first must not be lost between its commit and its display: `file` (0600, in a
 * folder of this control plane alone) holds it from before the commit until `shown`. A start that finds the file shows the
 * key in it, if it took effect.
 */
export async function ensureFirstKey(
  database: Database,
  file: string,
  accountName = 'default',
): Promise<FirstKey | null> {
  const pending = await readPending(file, isWellFormedApiKey);
  const plaintext = pending ?? makeApiKey();
  if (pending === null) await writePending(file, plaintext);
  const hash = hashApiKey(plaintext);
  const key = { name: 'First key', hash, last4: lastFour(plaintext), scopes };
  const made = await createFirstAccount(database, accountName, key);
  const shown = (): Promise<void> => removePending(file);
  if (made ?? (pending && (await isKey(database, hash)))) return { plaintext, shown };
  await shown();
  return null;
}
