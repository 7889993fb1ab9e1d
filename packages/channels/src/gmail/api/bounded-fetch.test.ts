import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { TooLargeError } from '../../shared/bounded.ts';
import { boundedFetch } from './bounded-fetch.ts';

const mib = 2 ** 20;
const bytes = 32 * mib;
const mail = Buffer.alloc(bytes, 'x');

let server: Server;
let url: string;
before(async () => {
  server = createServer((_, response) => response.end(mail)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => server.close().closeAllConnections());

const fetched = async (size: number): Promise<ArrayBuffer> =>
  (await boundedFetch()(url, { size } as RequestInit)).arrayBuffer();

test('an answer is not copied by each layer that it passes', async () => {
  const held = process.memoryUsage().arrayBuffers;
  const answer = await fetched(bytes);
  const more = (process.memoryUsage().arrayBuffers - held) / mib;
  assert.equal(answer.byteLength, bytes);
  // Its pieces, the whole, and what was read into. With a copy for each layer it was 192.
  assert.ok(more < 150, `${more.toFixed(0)} MiB`);
});

test('an answer beyond its bound is refused', async () => {
  await assert.rejects(fetched(mib), (error) => error instanceof TooLargeError);
});
