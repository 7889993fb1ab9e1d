/**
 * Upgrades on the API's host go through its router: same checks, same errors. `tests/e2e/shell.test.ts` speaks WebSocket with a
 * route that takes it.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { openApp } from '../../../../../packages/testkit/src/plane/http/open-app.ts';

const { key, baseUrl, close } = await openApp();
after(close);
const terminal = `/v1/agents/${'a'.repeat(12)}/terminal`;

/** The whole reply to a request that asks for an upgrade, as it comes over the wire. */
async function ask(path: string, headers: string): Promise<string> {
  const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n${headers}\r\n`);
  return text(socket);
}
const websocket = 'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

test('key, scope and path are checked before, and the connection ends with the refusal', async () => {
  assert.match(await ask(terminal, websocket), /^HTTP\/1\.1 401 [^]*Connection: close[^]*missing_api_key/i);
  const withKey = async (name: string) => `${websocket}X-API-Key: ${await key(name)}\r\n`;
  assert.match(await ask(terminal, await withKey('usage:read')), /^HTTP\/1\.1 403 /);
  assert.match(await ask(terminal, await withKey('all')), /^HTTP\/1\.1 404 [^]*agent_not_found/);
  assert.match(await ask('/v1/nothing', await withKey('all')), /^HTTP\/1\.1 404 [^]*route_not_found/);
});

test('a route that does not take it, and an upgrade to anything else, are answered in plain HTTP', async () => {
  const all = `X-API-Key: ${await key('all')}\r\n`;
  assert.match(await ask('/v1/sizes', websocket + all), /^HTTP\/1\.1 200 [^]*"xlarge"/);
  assert.match(await ask('/v1/sizes', `Upgrade: h2c\r\n${all}Connection: close\r\n`), /^HTTP\/1\.1 200 /);
});
