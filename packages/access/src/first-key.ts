import { open, readFile, rm } from 'node:fs/promises';
import { scopes } from '@lodge/engine/ports';
import type { ApiKeyStore } from '@lodge/engine/ports';
import { hashApiKey, isWellFormedApiKey, lastFour, makeApiKey } from './api-key.ts';

export interface FirstKey {
  readonly plaintext: string;
  /** To be called once it was shown: from then on the plaintext exists nowhere but with who read it. */
  shown(): Promise<void>;
}

/**
 * On a deployment without an account: makes the first one with a key that has every scope. Null ever after, and for every
 * process but one when several start at once. Account and key are one transaction of the store.
 *
 * Nobody can make another key yet, so the first must not be lost between its commit and its being shown: `file` (0600, in a
 * folder of this control plane alone) holds it from before the commit until `shown`. A start that finds the file shows the
 * key in it, if it took effect.
 */
export async function ensureFirstKey(
  store: Pick<ApiKeyStore, 'createFirstAccount' | 'findByHash'>,
  file: string,
  accountName = 'default',
): Promise<FirstKey | null> {
  const pending = await readPending(file);
  const plaintext = pending ?? makeApiKey();
  if (pending === null) await write(file, plaintext);
  const hash = hashApiKey(plaintext);
  const key = { name: 'First key', hash, last4: lastFour(plaintext), scopes, expiresAt: null };
  const made = await store.createFirstAccount(accountName, key);
  const shown = (): Promise<void> => rm(file, { force: true });
  if (made ?? (pending && (await store.findByHash(hash)))) return { plaintext, shown };
  await shown();
  return null;
}

/** A key that was cut off while it was written never took effect. */
async function readPending(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return isWellFormedApiKey(text) ? text : null;
}

async function write(file: string, plaintext: string): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.chmod(0o600);
    await handle.writeFile(plaintext);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
