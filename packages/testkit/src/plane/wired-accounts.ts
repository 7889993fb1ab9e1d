/**
 * For tests: accounts and keys over a real store, put together as the server does. They stay beside `openLodge`: tests of
 * accounts set the clock, which a whole Lodge does not let them.
 */
/* oxlint-disable no-restricted-imports -- only tests import this file */
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cryptography } from '@lodge/access';
import { openStore } from '@lodge/store';
import type { Store } from '@lodge/store';
import { testDatabase } from '@lodge/testkit/postgres';
import type { TestDatabase } from '@lodge/testkit/postgres';
import { ensureFirstKey } from '../../../../apps/server/src/host/first-key.ts';
import { createSecretBox } from '../../../access/src/secret-box.ts';
import { createAccounts } from '../../../engine/src/accounts/accounts.ts';
import type { Accounts, AccountsOptions } from '../../../engine/src/accounts/accounts.ts';
import { createApiKeyVerifier, storedKeys } from '../../../engine/src/accounts/verify-api-key.ts';
import type { ClosableApiKeyVerifier } from '../../../engine/src/accounts/verify-api-key.ts';

export const silent = { debug() {}, info() {}, warn() {}, error() {} };

type Given = Partial<Pick<AccountsOptions, 'registrationOpen' | 'clock' | 'secrets' | 'origin' | 'clientDocuments'>>;

export interface WiredAccounts {
  readonly accounts: Accounts;
  readonly verifier: ClosableApiKeyVerifier;
  close(): Promise<void>;
}

/** Registration is closed and the secrets are sealed with a key of their own, unless told otherwise. */
export function accountsOver(store: Store, given: Given = {}): WiredAccounts {
  const usual = {
    secrets: createSecretBox(randomBytes(32)),
    registrationOpen: false,
    origin: () => 'http://localhost',
  };
  const accounts = createAccounts({ crypto: cryptography, database: store.database, log: silent, ...usual, ...given });
  const verifier = createApiKeyVerifier({
    apiKeys: cryptography.apiKeys,
    keys: storedKeys(store.database),
    onChange: (listener) => store.changes.on('api_key_changed', listener),
    log: silent,
  });
  return {
    accounts,
    verifier,
    async close() {
      await accounts.close();
      await verifier.close();
    },
  };
}

export interface OpenedAccounts extends WiredAccounts {
  readonly database: TestDatabase;
  readonly store: Store;
  /** The plaintext of the first API key, which has been shown. */
  readonly firstKey: string;
}

/** The same over a database of its own, with the account that the first start makes. */
export async function openAccounts(given: Given = {}): Promise<OpenedAccounts> {
  const database = await testDatabase();
  const store = await openStore({ ...database, log: silent });
  const wired = accountsOver(store, given);
  const first = (await ensureFirstKey(store.database, join(tmpdir(), `lodge-key-${randomBytes(6).toString('hex')}`)))!;
  await first.shown();
  return {
    ...wired,
    database,
    store,
    firstKey: first.plaintext,
    async close() {
      await wired.close();
      await store.close();
      await database.drop();
    },
  };
}
