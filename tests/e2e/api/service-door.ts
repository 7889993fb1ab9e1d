/**
 * The door of connections as a server of its own over a database, for one agent. Started as a process, with its settings in
 * SERVICE_DOOR, it makes one request and prints the answer: that process is there to be killed.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openSecretBox } from '@lodge/access';
import { openConnections } from '@lodge/connections';
import type { ConnectionOptions } from '@lodge/connections';
import { createConnectionDirectory, createConnectionGrants } from '@lodge/engine';
import { openStore } from '@lodge/store';
import { logWriter } from '@lodge/store/logs';
import { silent } from '../../../packages/testkit/src/plane/wired-accounts.ts';

export interface ServiceDoor {
  readonly connectionString: string;
  /** In hexadecimal. */
  readonly masterKey: string;
  readonly agentId: string;
  readonly oauthBounds?: ConnectionOptions['oauthBounds'];
}

export async function openDoor({ connectionString, masterKey, agentId, oauthBounds = {} }: ServiceDoor) {
  const store = await openStore({ connectionString, log: silent });
  const parts = openConnections({
    directory: createConnectionDirectory(store.database),
    grants: createConnectionGrants(store.database),
    secrets: await openSecretBox(store.secrets, Buffer.from(masterKey, 'hex')),
    logs: logWriter(store.database),
    log: silent,
    authority: () => Promise.reject(new Error('no host is reached here')),
    addresses: 'any',
    egressProxy: null,
    callBounds: { callsPerMinute: 10_000 },
    oauthBounds,
  });
  const never = new AbortController().signal;
  const server = createServer((req, res) => {
    parts.door.handle({ agentId, accountId: '', confirmations: null }, req, res, never).catch(() => res.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/connections`;
  return {
    async get(path: string, init: RequestInit = {}) {
      const answer = await fetch(url + path, init);
      return { status: answer.status, text: await answer.text() };
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await parts.close();
      await store.close();
    },
  };
}

const given = process.env['SERVICE_DOOR'];
if (given !== undefined) {
  const door = await openDoor(JSON.parse(given) as ServiceDoor);
  process.stdout.write(`${JSON.stringify(await door.get('/work/hello'))}\n`);
  await door.close();
}
