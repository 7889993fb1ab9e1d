/**
 * The door of connections as a server of its own over a database, for one agent. Started as a process, with its settings in
 * SERVICE_DOOR, it makes one request and prints the answer: that process is there to be killed.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openSecretBox } from '@lodge/access';
import { openConnections } from '@lodge/connections';
import { createOutbound } from '@lodge/egress';
import type { Outbound } from '@lodge/egress';
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
  /** The origin that `serviceHost` leads to. Requests are then for that host, under its own name. */
  readonly hostLeadsTo?: string;
}

/** A host under its own name. */
export const serviceHost = 'api.service.example';

export interface Asked {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export async function openDoor(given: ServiceDoor) {
  const { connectionString, masterKey, agentId, oauthBounds = {}, hostLeadsTo } = given;
  const plain = createOutbound(5_000, null);
  const hostOutbound: Outbound = {
    ...plain,
    send: (to, { url, ...asked }) =>
      plain.send(to, { ...asked, url: url.replace(`https://${serviceHost}`, hostLeadsTo ?? '') }),
  };
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
    hostOutbound,
  });
  const never = new AbortController().signal;
  const server = createServer((req, res) => {
    // A program that has ended TLS already.
    Object.assign(req.socket, { servername: serviceHost });
    const door = hostLeadsTo === undefined ? parts.door : parts.hostDoor;
    door.handle({ agentId, accountId: '', confirmations: null }, req, res, never).catch(() => res.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    /** Sends a request by the connection `work`. */
    async get(path: string, init: Asked = {}) {
      const { method = 'GET', body, headers } = init;
      const isHost = hostLeadsTo !== undefined;
      const answer = await plain.send(
        { privateAddresses: true },
        {
          method,
          url: isHost ? `${origin}/api${path}` : `${origin}/connections/work${path}`,
          headers: { ...headers, ...(isHost && { host: serviceHost }) },
          ...(body !== undefined && { body: Buffer.from(body) }),
          signal: never,
        },
      );
      return { status: answer.statusCode, text: await answer.body.text() };
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await parts.close();
      await plain.close();
      await store.close();
    },
  };
}

const started = process.env['SERVICE_DOOR'];
if (started !== undefined) {
  const door = await openDoor(JSON.parse(started) as ServiceDoor);
  process.stdout.write(`${JSON.stringify(await door.get('/hello'))}\n`);
  await door.close();
}
