import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { endStalledReply } from './stalled-reply.ts';

const body = Buffer.alloc(24 * 1024 * 1024, 'x');
const standsStillMs = 400;

/** A server that ends each stalled reply; `answer` writes the reply. */
async function serve(answer: (reply: ServerResponse) => void) {
  const replies: ServerResponse[] = [];
  const server = createServer((_request, reply) => {
    endStalledReply(reply, standsStillMs);
    replies.push(reply);
    answer(reply);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    replies,
    ask(): Socket {
      const client = connect(port, '127.0.0.1').on('error', () => undefined);
      client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
      return client;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('a reply that nobody reads is destroyed, also while its client goes on to send', async () => {
  await using server = await serve((reply) => reply.end(body));
  const client = server.ask().pause();
  // The head of a next request that never ends.
  client.write('GET / HTTP/1.1\r\nx: ');
  const talking = setInterval(() => client.write('x'), 50);
  while (server.replies.length === 0) await sleep(5);
  const began = performance.now();
  await once(server.replies[0]!, 'close');
  assert.ok(performance.now() - began >= standsStillMs, 'not before its time');
  clearInterval(talking);
  assert.equal(server.replies[0]!.writableFinished, false);
  client.destroy();
});

test('text that the server goes on to write is nothing that a client has taken', async () => {
  await using server = await serve((reply) => {
    reply.write(body);
    const telling = setInterval(() => reply.write('é'.repeat(100)), 20);
    reply.once('close', () => clearInterval(telling));
  });
  const client = server.ask().pause();
  while (server.replies.length === 0) await sleep(5);
  await once(server.replies[0]!, 'close', { signal: AbortSignal.timeout(20 * standsStillMs) });
  client.destroy();
});

test('a client that takes a little of one large write again and again gets all of it', async () => {
  await using server = await serve((reply) => reply.end(body));
  const client = server.ask();
  let bytes = 0;
  let pauses = 0;
  client.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes < (pauses + 1) * 3 * 1024 * 1024) return;
    pauses += 1;
    client.pause();
    setTimeout(() => client.resume(), standsStillMs / 2);
  });
  while (bytes < body.length) await once(client, 'data');
  assert.ok(pauses >= 5, `${pauses} pauses, together longer than a reply may stand still`);
  client.destroy();
});

test('a stream that has nothing to send is left alone', async () => {
  await using server = await serve((reply) => reply.write('begun'));
  const client = server.ask();
  await once(client, 'data');
  await sleep(3 * standsStillMs);
  assert.equal(server.replies[0]!.destroyed, false);
  server.replies[0]!.end('over');
  await once(client, 'data');
  client.destroy();
});
