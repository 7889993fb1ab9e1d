/** Tests the clock of a guest, set over slow calls. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterEach, test } from 'node:test';
import { dialTo, guestClient, noCredential, type GuestClient } from './index.ts';

let servers: Server[] = [];
afterEach(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  servers = [];
});

async function guestOf(answer: RequestListener): Promise<GuestClient> {
  const server = createServer((request, response) => {
    response.setHeader('x-guestd-protocol', '1');
    answer(request, response);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return guestClient({ dial: dialTo('127.0.0.1'), port, credential: noCredential });
}

test('a clock that was set late is set once more, by the time it is then', async () => {
  const lateMs = 150;
  let unixMs = 0;
  const guest = await guestOf((request, response) => {
    void json(request).then((body) => {
      ({ unixMs } = body as { unixMs: number });
      setTimeout(() => response.end('{}'), lateMs);
    });
  });
  const began = Date.now();
  await guest.awaitClock({ timeoutMs: 20_000 });
  // A timer may end a millisecond early.
  assert.ok(unixMs >= began + lateMs - 2, `${unixMs - began} ms after the first`);
});

test('a guest that takes the time slowly again and again is told it until it takes it soon, a bounded number of times', async () => {
  const calls = async (delaysMs: readonly number[]): Promise<{ count: number; lateMs: number }> => {
    let [count, unixMs] = [0, 0];
    const guest = await guestOf((request, response) => {
      void json(request).then((body) => {
        const delayMs = delaysMs[Math.min(count, delaysMs.length - 1)]!;
        count += 1;
        setTimeout(() => {
          ({ unixMs } = body as { unixMs: number });
          response.end('{}');
        }, delayMs);
      });
    });
    await guest.awaitClock({ timeoutMs: 60_000 });
    return { count, lateMs: Date.now() - unixMs };
  };
  const settled = await calls([250, 900, 900, 0]);
  assert.ok(settled.count >= 4, `${settled.count} calls`);
  assert.ok(settled.lateMs < 800, `${settled.lateMs} ms late`);
  const { count } = await calls([250, 900]);
  // On a busy host several attempts may be made before the first answer.
  assert.ok(count >= 5 && count <= 12, `${count} calls`);
});
