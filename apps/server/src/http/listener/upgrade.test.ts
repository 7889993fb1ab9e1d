/** WebSockets on the API's host go through its router: same checks, same errors. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { testApp } from '../../../../../packages/testkit/src/plane/http/test-app.ts';
import { upgradeOf } from './upgrade.ts';

const { app } = testApp();
const sockets = new WebSocketServer({ noServer: true });
app.get('/v1/echo', { schema: { hide: true }, config: { scopes: ['agents:write'] } }, async (request, reply) => {
  const upgrade = upgradeOf(request.raw);
  if (!upgrade) return 'no upgrade';
  reply.hijack();
  sockets.handleUpgrade(request.raw, upgrade.socket, upgrade.head, (socket) => {
    socket.on('message', (data) => socket.send(data, { binary: false }));
  });
});
let url = '';
before(async () => (url = await app.listen({ host: '127.0.0.1', port: 0 })));
after(() => app.close());

/** The whole reply to a request that asks for an upgrade, as it comes over the wire. */
async function ask(path: string, headers: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n${headers}\r\n`);
  return text(socket);
}
const websocket = 'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

test('a route that takes it speaks WebSocket', async () => {
  const socket = new WebSocket(url.replace('http', 'ws') + '/v1/echo', { headers: { 'x-api-key': 'all' } });
  await once(socket, 'open');
  socket.send('plum');
  assert.equal(String((await once(socket, 'message'))[0]), 'plum');
  socket.close();
  await once(socket, 'close');
});

test('key, scope and path are checked before, and the connection ends with the refusal', async () => {
  assert.match(await ask('/v1/echo', websocket), /^HTTP\/1\.1 401 [^]*Connection: close[^]*missing_api_key/i);
  assert.match(await ask('/v1/echo', `${websocket}X-API-Key: usage:read\r\n`), /^HTTP\/1\.1 403 /);
  assert.match(await ask('/v1/nothing', `${websocket}X-API-Key: all\r\n`), /^HTTP\/1\.1 404 /);
});

test('a route that does not take it, and an upgrade to anything else, are answered in plain HTTP', async () => {
  assert.match(await ask('/v1/sizes', `${websocket}X-API-Key: all\r\n`), /^HTTP\/1\.1 200 [^]*"xlarge"/);
  assert.match(await ask('/v1/sizes', 'Upgrade: h2c\r\nX-API-Key: all\r\nConnection: close\r\n'), /^HTTP\/1\.1 200 /);
});
