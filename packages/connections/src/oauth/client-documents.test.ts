import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createOutbound } from '@lodge/egress';
import type { Outbound } from '@lodge/egress';
import { defaultOAuthBounds } from '../bounds.ts';
import { createClientDocuments } from './client-documents.ts';

test("a client's document is read from a public server alone, within its bounds, and is null otherwise", async (t) => {
  const hits: string[] = [];
  const server = createServer((request, reply) => {
    hits.push(request.url!);
    if (request.url === '/moved.json') reply.writeHead(302, { location: '/client.json' }).end();
    else if (request.url === '/none.json') reply.writeHead(404).end('{}');
    else if (request.url === '/text.json') reply.end('no JSON');
    else if (request.url === '/large.json') reply.end(`["${'x'.repeat(4 * 1024 * 1024)}"]`);
    else reply.end('{"client_id":"x"}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const own = createOutbound(500, null);
  // On this way `app.example.com` is the server.
  const outbound: Outbound = {
    ...own,
    send: (to, request) => {
      const url = new URL(request.url);
      return url.hostname === 'app.example.com'
        ? own.send({ privateAddresses: true }, { ...request, url: `http://127.0.0.1:${port}${url.pathname}` })
        : own.send(to, request);
    },
  };
  t.after(async () => {
    await own.close();
    server.closeAllConnections();
    server.close();
  });
  const documents = createClientDocuments({ outbound, bounds: { ...defaultOAuthBounds, requestMs: 2_000 } });
  assert.deepEqual(await documents.read('https://app.example.com/client.json'), { client_id: 'x' });
  for (const name of ['moved', 'none', 'text', 'large']) {
    assert.equal(await documents.read(`https://app.example.com/${name}.json`), null, name);
  }
  assert.equal(hits.filter((path) => path === '/client.json').length, 1, 'no redirect is followed');
  const before = hits.length;
  for (const url of [`https://127.0.0.1:${port}/client.json`, `http://127.0.0.1:${port}/client.json`, 'nonsense']) {
    assert.equal(await documents.read(url), null, url);
  }
  assert.equal(hits.length, before);
});
