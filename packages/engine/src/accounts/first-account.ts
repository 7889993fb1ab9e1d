import type { Database } from '@lodge/store/database';
import { insertAccount, insertKey, keyByHash, lockFirstAccount } from '@lodge/store/accounts';
import type { GrantKey, KeyRow } from '@lodge/store/accounts';
import { appendEvent } from '@lodge/store/events';
import { keyCreated } from './keys.ts';

/**
 * Makes the first account and its first key, in one transaction under a lock, and returns the key. When an account exists
 * already, it writes nothing and returns null. An account without a key is never left behind.
 */
export const createFirstAccount = (database: Database, accountName: string, key: GrantKey): Promise<KeyRow | null> =>
  database.transaction(async (trx) => {
    if (await lockFirstAccount(trx)) return null;
    const { id: accountId } = await insertAccount(trx, { name: accountName, role: 'owner' });
    const { name, hash, last4, scopes } = key;
    const made = await insertKey(trx, { accountId, name, hash, last4, scopes });
    const target = { kind: 'account', id: accountId };
    await appendEvent(trx, { type: 'account.created', data: {}, accountId, agentId: null, by: null, target });
    await appendEvent(trx, keyCreated(made, null));
    return made;
  });

/** Whether there is a key with this hash. */
export const isKey = async (database: Database, hash: Uint8Array): Promise<boolean> =>
  (await database.repeatable((db) => keyByHash(db, hash))) !== undefined;
