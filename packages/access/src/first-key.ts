import { scopes } from '@lodge/engine/ports';
import type { ApiKeyStore } from '@lodge/engine/ports';
import { hashApiKey, lastFour, makeApiKey } from './api-key.ts';

/**
 * On a deployment without an account: makes the first one with a key that has every scope, and returns the key's
 * plaintext, which exists nowhere else. Null ever after, and for every process but one when several start at once.
 * Account and key are one transaction of the store: dying at any point leaves both or none.
 */
export async function ensureFirstKey(
  store: Pick<ApiKeyStore, 'createFirstAccount'>,
  accountName = 'default',
): Promise<string | null> {
  const key = makeApiKey();
  const row = await store.createFirstAccount(accountName, {
    name: 'First key',
    hash: hashApiKey(key),
    last4: lastFour(key),
    scopes,
    expiresAt: null,
  });
  return row ? key : null;
}
