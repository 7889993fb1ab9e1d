/**
 * A whole Lodge as a process of its own, for tests in other languages: the real API and loops, fake machines, and the real
 * daemon of guests. It prints its address and key as a line of JSON. On stdin, `stop` ends the server and `start` starts
 * another one at the same address, over the same database; each is answered by a line. It ends when stdin does.
 */
import { createInterface } from 'node:readline';
import { testDatabase } from '@lodge/testkit/postgres';
import { FakeHost } from '@lodge/vm/fake';
import { Daemon } from '../../apps/guestd/src/testing.ts';
import { startServer } from '../e2e/api/world.ts';
import type { ApiServer } from '../e2e/api/world.ts';

const database = await testDatabase();
const guest = new Daemon();
await guest.prepare();
await guest.start();
const host = new FakeHost();
let port = '0';
const started = (): Promise<ApiServer> =>
  startServer({
    ...database,
    host,
    guestPort: guest.port,
    settings: { LODGE_PORT: port, LODGE_WEBHOOK_ADDRESSES: 'any' },
    onError: (fields, message) => console.error(message, fields),
  });

let server: ApiServer | null = await started();
({ port } = new URL(server.url));
console.log(JSON.stringify({ url: server.url, key: server.firstKey }));
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'stop') {
    await server?.close();
    server = null;
  } else if (line === 'start') server ??= await started();
  console.log(JSON.stringify({ done: line }));
}
await server?.close();
await guest.remove();
await database.drop();
