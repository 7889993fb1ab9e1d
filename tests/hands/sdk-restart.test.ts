/** A server that restarts in the midst of all that the SDK does: what can go on goes on, and the rest ends with an error. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Lodge, LodgeError } from '@lodge/sdk';
import { downloadFile, uploadFile } from '@lodge/sdk/node';
import { FaultyProxy } from '@lodge/testkit/faulty-proxy';
import { testDatabase } from '@lodge/testkit/postgres';
import { FakeHost } from '@lodge/vm/fake';
import { Daemon } from '../../apps/guestd/src/testing.ts';
import { startServer } from '../e2e/api/world.ts';

/** Says a word every 50 ms for a minute. */
const slowGateway = createServer((request, reply) => {
  request.resume();
  reply.setHeader('content-type', 'text/event-stream');
  const choices = [{ index: 0, delta: { content: 'word ' }, finish_reason: null }];
  const chunk = { id: 'c', created: 1, model: 'openclaw', object: 'chat.completion.chunk', choices };
  const timer = setInterval(() => reply.write(`data: ${JSON.stringify(chunk)}\n\n`), 50);
  reply.once('close', () => clearInterval(timer));
});

test('a restart in the midst of streams and transfers loses nothing, doubles nothing and hangs nothing', async () => {
  const database = await testDatabase();
  const guest = new Daemon();
  await guest.prepare();
  await guest.start();
  const here = await mkdtemp(join(tmpdir(), 'sdk-restart-'));
  await new Promise<void>((resolve) => slowGateway.listen(0, '127.0.0.1', resolve));
  const chatEndpoint = () => ({
    baseUrl: `http://127.0.0.1:${(slowGateway.address() as AddressInfo).port}/v1`,
    headers: {},
    model: 'openclaw',
    takesPictures: false,
  });
  const options = { ...database, host: new FakeHost(), guestPort: guest.port, runtime: { chatEndpoint } };
  let server = await startServer(options);
  const proxy = await FaultyProxy.start(server.url);
  const lodge = new Lodge({ baseUrl: proxy.url, apiKey: server.firstKey!, maxRetries: 8 });
  try {
    const { id } = await lodge.agents.create({ name: 'first' });
    await lodge.agents.waitUntil(id, 'running');
    const body = new Uint8Array(20_000_000).map((_, i) => i % 251);
    await writeFile(join(here, 'big'), body);
    await lodge.files.write(id, 'big', body);

    const stop = new AbortController();
    const { signal } = stop;
    const [events, logs, said, printed]: [string[], string[], string[], string[]] = [[], [], [], []];
    const follows = [
      collect(lodge.events.follow({ agent_id: id, limit: 1 }, { signal }), (each) => events.push(each.id)),
      collect(lodge.agents.followLogs(id, { limit: 1 }, { signal }), (each) => logs.push(each.id)),
    ];
    const turns = [
      collect(lodge.chat.stream(id, { messages: [{ role: 'user', content: 'x' }] }), () => said.push('')),
      collect(lodge.exec.stream(id, { command: 'while sleep 0.05; do echo x; done' }), () => printed.push('')),
    ];
    await until(() => events.length > 0 && logs.length > 0 && said.length > 2 && printed.length > 2);
    const uploaded = uploadFile(lodge, id, join(here, 'big'), 'uploaded');
    const downloaded = downloadFile(lodge, id, 'big', join(here, 'back'));
    await sleep(20);

    await proxy.down();
    await server.close();
    server = await startServer(options);
    proxy.retarget(server.url);
    await proxy.up();

    for (const turn of turns) assert.ok((await turn) instanceof LodgeError);
    assert.equal((await uploaded).size, body.length);
    await downloaded;
    assert.ok((await readFile(join(here, 'back'))).equals(body));
    await lodge.agents.pause(id);
    await lodge.agents.resume(id);
    const allEvents = (await lodge.events.list({ agent_id: id, limit: 100 })).data.map((each) => each.id).toReversed();
    const allLogs = (await lodge.agents.logs(id, { limit: 100 })).data.map((each) => each.id).toReversed();
    await until(() => events.at(-1) === allEvents.at(-1) && logs.at(-1) === allLogs.at(-1));
    assert.deepEqual(events, allEvents.slice(allEvents.indexOf(events[0]!)));
    assert.deepEqual(logs, allLogs.slice(allLogs.indexOf(logs[0]!)));
    stop.abort();
    for (const each of follows) assert.equal(((await each) as Error).name, 'AbortError');
    assert.equal((await lodge.agents.list()).data.length, 1);
  } finally {
    await proxy.close();
    await server.close();
    slowGateway.closeAllConnections();
    slowGateway.close();
    await guest.remove();
    await database.drop();
    await rm(here, { recursive: true, force: true });
  }
});

/** Resolves to the error that ends it; null if it ends by itself. */
async function collect<T>(each: AsyncIterable<T>, take: (value: T) => void): Promise<unknown> {
  try {
    for await (const value of each) take(value);
    return null;
  } catch (error) {
    return error;
  }
}

async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries += 1) {
    assert.ok(tries < 1_000, 'in time');
    await sleep(25);
  }
}
