/**
 * A whole Lodge as a process of its own, for tests in other languages: the real API and loops, fake machines, and the real
 * daemon of guests. It prints its address and key as a line of JSON. On stdin, `kill` kills the server as kill -9 does, and
 * `start` starts another one at the same address, over the same database; each is answered by a line. It ends when stdin does.
 */
import { createInterface } from 'node:readline';
import { KillableServer } from './killed/place.ts';

const server = await KillableServer.open();
const { url, key } = server;
console.log(JSON.stringify({ url, key }));
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'kill') await server.kill();
  else if (line === 'start') await server.start();
  console.log(JSON.stringify({ done: line }));
}
await server.close();
