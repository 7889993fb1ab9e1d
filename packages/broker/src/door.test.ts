import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, test } from 'node:test';
import { createSecretBox } from '@lodge/access';
import type { BrokerLimits } from './call/call-limits.ts';
import type { Door } from './door.ts';
import { startTestBroker } from './testing/harness.ts';
import type { TestBroker } from './testing/harness.ts';

const [known, other, stranger] = ['127.0.0.2', '127.0.0.3', '127.0.0.9'];

let broker: TestBroker | null = null;
afterEach(async () => {
  await broker?.close();
  broker = null;
});

async function start(door: Door, limits: Partial<BrokerLimits> = {}) {
  const agents = [known, other].map((address) => ({ address, model: 'acme/m', keys: {} }));
  const secrets = createSecretBox(randomBytes(32));
  broker = await startTestBroker({ agents, secrets, providers: [], doors: { mcp: door }, limits });
  const { url, fetchFrom } = broker;
  /** Paths as they are, with nothing resolved by a client. */
  const get = (address: string, path: string, signal?: AbortSignal): Promise<Response> =>
    fetchFrom(address)(url + path, { ...(signal && { signal }) });
  /** Asks, and reads nothing of the reply. */
  const ask = (address: string): Socket => {
    const socket = connect({ port: broker!.port, host: '127.0.0.1', localAddress: address });
    socket.on('error', () => undefined).pause();
    socket.write('GET /mcp HTTP/1.1\r\nhost: x\r\n\r\n');
    return socket;
  };
  return { get, ask };
}

test('a door has everything below its segment, and knows who asks', async () => {
  const urls: string[] = [];
  const { get } = await start({
    handle: async ({ agentId }, req, res) => void res.end(`${agentId} ${urls.push(req.url!)}`),
  });
  const said = async (path: string) => (await get(known, path)).status;
  for (const path of ['/mcp', '/mcp?x=1', '/mcp/a/../b']) assert.equal(await said(path), 200);
  for (const path of ['/mcpx', '/MCP', '/%6dcp', '//mcp', '/constructor', '/__proto__'])
    assert.equal(await said(path), 404);
  assert.equal((await get(stranger, '/mcp')).status, 403);
  assert.equal(urls.length, 3);
  assert.notEqual(await (await get(known, '/mcp')).text(), await (await get(other, '/mcp')).text());
  assert.equal((await get(known, '/mcp')).headers.get('connection'), 'close');
});

test('what a door throws tells nothing, before its answer and in its midst', async () => {
  const { get } = await start({
    handle: async (_guest, req, res) => {
      if (req.url === '/mcp/midst') res.write('half');
      throw new Error('a secret of the host');
    },
  });
  const reply = await get(known, '/mcp');
  assert.equal(reply.status, 500);
  assert.doesNotMatch(await reply.text(), /secret/);
  await assert.rejects(async () => (await get(known, '/mcp/midst')).text());
});

test('one agent has so many requests under way and no more, and takes nobody else a place', async () => {
  let end = (): void => undefined;
  const held = new Promise<void>((resolve) => (end = resolve));
  const { get } = await start({
    handle: async (_guest, _req, res) => {
      await held;
      res.end('late');
    },
  });
  const first = Array.from({ length: 8 }, () => get(known, '/mcp'));
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal((await get(known, '/mcp')).status, 429);
  const neighbour = get(other, '/mcp');
  end();
  for (const reply of [...(await Promise.all(first)), await neighbour]) {
    assert.equal(reply.status, 200);
    await reply.text();
  }
});

test('a reply that nobody reads holds its place until it is destroyed', async () => {
  const replies: ServerResponse[] = [];
  const { get, ask } = await start(
    {
      handle: async (_guest, _req, res) => {
        if (replies.push(res) <= 8) res.end(Buffer.alloc(16 * 2 ** 20));
        else res.end('short');
      },
    },
    { stalledMs: 1_000 },
  );
  const unread = Array.from({ length: 8 }, () => ask(known));
  while (replies.length < 8) await new Promise((next) => setTimeout(next, 5));
  assert.equal((await get(known, '/mcp')).status, 429, 'all places are held');
  for (const reply of replies) if (!reply.closed) await once(reply, 'close');
  assert.equal((await get(known, '/mcp')).status, 200);
  for (const socket of unread) socket.destroy();
});

test('a request ends when its guest has left, and when the broker ends', async () => {
  const ended: unknown[] = [];
  const { get } = await start({
    handle: (_guest, _req, _res, signal) =>
      new Promise((resolve) =>
        signal.addEventListener('abort', () => {
          ended.push(1);
          resolve();
        }),
      ),
  });
  await assert.rejects(get(known, '/mcp', AbortSignal.timeout(200)));
  for (let tries = 0; ended.length === 0 && tries < 50; tries += 1) await new Promise((next) => setTimeout(next, 20));
  assert.equal(ended.length, 1);
  const left = get(known, '/mcp').catch(() => null);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await broker!.close();
  broker = null;
  await left;
  assert.equal(ended.length, 2);
});
