/**
 * The account area as it is served, without a machine behind it: the real routes over a real database, the real keys, and
 * the pages built from this tree. Agents alone are kept in memory.
 */
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createAccounts,
  createApiKeyVerifier,
  createOwnerLink,
  createResetLink,
  createSecretBox,
  ensureFirstKey,
} from '@lodge/access';
import { linkPath } from '@lodge/engine/ports';
import { migrate, openStore } from '@lodge/store';
import { testDatabase } from '@lodge/testkit/postgres';
import { testApp } from '../../apps/server/src/http/test-app.ts';
import type { Place } from './place.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

export async function serveArea(pages: string): Promise<Place> {
  const database = await testDatabase();
  await migrate(database);
  const store = await openStore({ ...database, log: silent });
  const secrets = createSecretBox(randomBytes(32));
  const accounts = createAccounts({ store: store.accounts, secrets, log: silent, registrationOpen: true });
  const verifier = createApiKeyVerifier({ store: store.apiKeys, changes: store.apiKeys, log: silent });
  const firstKey = await ensureFirstKey(store.apiKeys, join(tmpdir(), `lodge-web-${randomBytes(6).toString('hex')}`));
  await firstKey?.shown();

  let url = '';
  const { app } = testApp({ verifier, account: { accounts, spend: store.spend, origin: () => url, pages } });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    ownerLink: url + linkPath('owner', await createOwnerLink(store.accounts)),
    resetLink: async (email) =>
      url + linkPath('reset', await createResetLink(store.accounts, email, { removesTotp: false })),
    async close() {
      await app.close();
      await accounts.close();
      await verifier.close();
      await store.close();
      await database.drop();
    },
  };
}
