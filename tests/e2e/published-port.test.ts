/** A port of a real machine: the host reaches a server in it at its published address, and wakes the machine for it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { guestClientOf } from '@lodge/testkit/guest';
import { Service } from '@lodge/testkit/service';
import { Client } from 'pg';
import { Visitor } from './agent-addresses.ts';

/** Counts requests in its memory, and refuses to upgrade in a way of its own. */
const program = (port: number, host: string): string => `
  let count = 0;
  require('node:http').createServer((request, response) => response.end('plum ' + ++count))
    .on('upgrade', (request, socket) => socket.end('HTTP/1.1 418 No\\r\\nContent-Length: 0\\r\\n\\r\\n'))
    .listen(${port}, '${host}')`;

let service: Service;
let database: Client;
before(
  async () => {
    service = await Service.start({ entry: new URL('../failure/lodge-with-bare-guests.ts', import.meta.url) });
    await service.awaitTemplate(10 * 60_000);
    database = new Client(service.databaseUrl);
    await database.connect();
  },
  { timeout: 12 * 60_000 },
);
after(async () => {
  await database?.end();
  await service?.destroy();
});

test(
  'a published port of a real machine, and one that listens on loopback alone',
  { timeout: 20 * 60_000 },
  async () => {
    const created = await service.call('POST', '/agents', {
      name: 'x',
      size: 'small',
      lifecycle: { idle_timeout_seconds: 0 },
    });
    assert.equal(created.status, 201, JSON.stringify(created.body));
    const { id } = created.body as { id: string };
    const guest = await guestClientOf(service.dataDir, id);
    for (const [port, host] of [
      [3000, '0.0.0.0'],
      [3001, '127.0.0.1'],
    ] as const) {
      await guest.exec({ argv: ['setsid', '-f', 'node', '-e', program(port, host)], timeoutMs: 60_000 });
      assert.equal((await service.call('POST', `/agents/${id}/ports`, { port })).status, 201);
    }
    const visitor = new Visitor({ url: service.baseUrl, key: service.apiKey });
    const address = (port: number): string => `${port}-openclaw-${id}.agents.localhost`;
    const body = async (): Promise<string> => {
      for (let tries = 0; ; tries += 1) {
        const { status, text } = await visitor.ask(address(3000), '/');
        if (status === 200 || tries === 600) return text;
        await sleep(250);
      }
    };
    assert.equal(await body(), 'plum 1');
    const loopback = await visitor.ask(address(3001), '/');
    assert.deepEqual([loopback.status, loopback.json.error.code], [503, 'agent_unavailable']);
    const socket = { 'x-api-key': service.apiKey };
    assert.equal(await visitor.handshake(address(3000), socket, '/'), 418, 'upgrades reach it');

    assert.equal((await service.call('POST', `/agents/${id}/pause`)).status, 200);
    assert.equal(await body(), 'plum 2', 'the same server, woken');
    assert.equal((await service.call('POST', `/agents/${id}/stop`)).status, 200);
    assert.equal((await visitor.ask(address(3000), '/')).status, 409);
    assert.equal((await service.call('POST', `/agents/${id}/start`)).status, 200);
    assert.equal(await body(), 'plum 3', 'the same server, back from its snapshot');
  },
);
