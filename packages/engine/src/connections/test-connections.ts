/* oxlint-disable no-restricted-imports -- only tests import this file */
/** Connections of agents on a real database, as owners put them and as the host uses them. */
import { randomBytes } from 'node:crypto';
import { createSecretBox } from '@lodge/access';
import type { ConnectionConsent } from '@lodge/ports';
import { admitAll, firstAccount, newAgent } from '../../../store/src/testing/fixture.ts';
import { testStore } from '../../../store/src/testing/test-store.ts';
import { getAgent } from '../agents/reading.ts';
import { createConnections } from './connections.ts';
import { createConnectionDirectory, createConnectionGrants } from './directory.ts';
import type { TestStore } from '../../../store/src/testing/agents-fixture.ts';

const secrets = createSecretBox(randomBytes(32));
const noConsent: ConnectionConsent = {
  begin: () => Promise.reject(new Error('nobody consents here')),
  exchange: () => Promise.reject(new Error('nobody consents here')),
};

const over = (store: TestStore) => {
  const { database } = store;
  const get = (accountId: string, id: string) => getAgent({ database }, accountId, id);
  return {
    store,
    connections: createConnections({
      database,
      agents: { get },
      secrets,
      consent: noConsent,
      anyAddress: false,
      isOwnHost: (host) => host.endsWith('lodge.example.com'),
      authority: async () => ({ certificate: 'the certificate', key: 'the key' }),
    }),
    directory: createConnectionDirectory(database),
    grants: createConnectionGrants(database),
  };
};

export async function testConnections() {
  const { database, store, another } = await testStore();
  const accountId = await firstAccount(store.database);
  return {
    ...over(store),
    accountId,
    /** The same of another process. */
    another: async () => over(await another()),
    agent: async (): Promise<string> => (await store.agents.create(newAgent(accountId), admitAll)).id,
    opened: (sealed: string, context: string): string => secrets.open(sealed, context),
    connectionString: database.connectionString,
  };
}
