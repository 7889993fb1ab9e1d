/**
 * The account area as it is served, without a machine behind it: the real routes over a real database, the real keys, and
 * the pages built from this tree. Agents alone are kept in memory.
 */
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cryptography, createSecretBox } from '@lodge/access';
import { createAccounts, createApiKeyVerifier, createOwnerLink, createResetLink } from '@lodge/engine';
import { ensureFirstKey } from '../../apps/server/src/host/first-key.ts';
import { linkPath } from '@lodge/ports';
import { migrate, openStore } from '@lodge/store';
import { testDatabase } from '@lodge/testkit/postgres';
import { testApp } from '../../packages/testkit/src/plane/http/test-app.ts';

export interface Place {
  /** Origin of the service. */
  readonly url: string;
  readonly ownerLink: string;
  resetLink(email: string): Promise<string>;
  close(): Promise<void>;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

export async function serveArea(pages: string): Promise<Place> {
  const database = await testDatabase();
  await migrate(database);
  const store = await openStore({ ...database, log: silent });
  const secrets = createSecretBox(randomBytes(32));
  const accounts = createAccounts({
    crypto: cryptography,
    store: store.accounts,
    secrets,
    log: silent,
    registrationOpen: true,
  });
  const verifier = createApiKeyVerifier({
    apiKeys: cryptography.apiKeys,
    store: store.apiKeys,
    changes: store.apiKeys,
    log: silent,
  });
  const firstKey = await ensureFirstKey(store.apiKeys, join(tmpdir(), `lodge-web-${randomBytes(6).toString('hex')}`));
  await firstKey?.shown();

  let url = '';
  const { app } = testApp({ verifier, accounts, account: { accounts, spend: store.spend, origin: () => url, pages } });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    ownerLink: url + linkPath('owner', await createOwnerLink(store.accounts, cryptography.tokens)),
    resetLink: async (email) =>
      url +
      linkPath('reset', await createResetLink(store.accounts, cryptography.tokens, email, { removesTotp: false })),
    async close() {
      await app.close();
      await accounts.close();
      await verifier.close();
      await store.close();
      await database.drop();
    },
  };
}
