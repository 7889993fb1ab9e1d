import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { createOutbound } from './outbound.ts';

const ports: (number | undefined)[] = [];
const server = createServer((req, res) => {
  ports.push(req.socket.remotePort);
  res.end('fine');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const outbound = createOutbound(1_000, null);
after(async () => {
  await outbound.close();
  server.close();
});

test('a connection that is kept alive is for requests of its holder alone', async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const signal = AbortSignal.timeout(5_000);
  for (const holder of ['a', 'b', 'a', 'b']) {
    const { body } = await outbound.send(
      { privateAddresses: true, holder },
      { method: 'GET', url, headers: {}, signal },
    );
    await body.text();
  }
  const [first, second, third, fourth] = ports;
  assert.deepEqual([third, fourth], [first, second]);
  assert.notEqual(first, second);
});
