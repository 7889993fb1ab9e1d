import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { after, test } from 'node:test';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
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

/** The answer of the operator's proxy to a CONNECT. */
let onConnect: (socket: Socket) => void;
const asked: string[] = [];
const proxy = createServer((req, res) => {
  asked.push(`${req.method} ${req.url} ${req.headers.host} ${req.headers['proxy-authorization']}`);
  res.end('forwarded');
});
proxy.on('connect', (req, socket: Socket) => {
  asked.push(`CONNECT ${req.url} ${req.headers['proxy-authorization']}`);
  onConnect(socket.on('error', () => undefined));
});
proxy.listen(0, '127.0.0.1');
await once(proxy, 'listening');
const proxyPort = (proxy.address() as AddressInfo).port;
const connectMs = 300;
const proxied = createOutbound(connectMs, `http://ada:hunter%2F2@127.0.0.1:${proxyPort}`);
after(async () => {
  await proxied.close();
  proxy.close().closeAllConnections();
});
const credentials = `Basic ${Buffer.from('ada:hunter/2').toString('base64')}`;
const publicPlace = { privateAddresses: false } as const;
const signal = AbortSignal.timeout(60_000);
const { port } = server.address() as AddressInfo;

/** Makes the tunnel that was asked for, always to the server of this test. */
function makeTunnel(socket: Socket): void {
  const there = connect(port, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    socket.pipe(there).pipe(socket);
  });
}

test('the proxy makes tunnels to public servers; plain requests that are forwarded need none', async () => {
  onConnect = makeTunnel;
  asked.length = 0;
  const ask = async (isForwarded?: true): Promise<string> => {
    const to = { ...publicPlace, ...(isForwarded && { isForwarded }) };
    const url = 'http://plum.invalid/a?b=c';
    return (await proxied.send(to, { method: 'GET', url, headers: {}, signal })).body.text();
  };
  assert.deepEqual([await ask(), await ask(true)], ['fine', 'forwarded']);
  const socket = await proxied.connect(publicPlace, 'plum.invalid', 443, signal);
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  assert.match(await text(socket), /fine$/);
  assert.deepEqual(asked, [
    `CONNECT plum.invalid:80 ${credentials}`,
    `GET http://plum.invalid/a?b=c plum.invalid ${credentials}`,
    `CONNECT plum.invalid:443 ${credentials}`,
  ]);
  await assert.rejects(proxied.connect(publicPlace, '127.0.0.1', port, signal), /not public/);
  assert.equal(asked.length, 3, 'a closed address is not asked for');
});

test('a proxy that refuses, is silent, slow or never ends its answer makes no tunnel, and none is waited for', async () => {
  const sockets: Socket[] = [];
  const endless = (socket: Socket, part: string): void => {
    const more = (): void => void (socket.writable && socket.write(part, () => setImmediate(more)));
    more();
  };
  const cases: readonly (readonly [why: string, does: (socket: Socket) => void, error: RegExp])[] = [
    ['refuses', (socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'), /answered 403/],
    [
      'wants credentials, and says so without end',
      (socket) => {
        socket.write('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 99999999\r\n\r\n');
        endless(socket, 'x'.repeat(10_000));
      },
      /answered 407/,
    ],
    ['is silent', () => undefined, /timeout|timed out/i],
    [
      'is slow',
      (socket) => {
        socket.write('HTTP/1.1 200');
        void sleep(10 * connectMs).then(() => socket.end(' OK\r\n\r\n'));
      },
      /timeout|timed out/i,
    ],
    [
      'has headers without end',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        endless(socket, `x: ${'y'.repeat(1_000)}\r\n`);
      },
      /overflow/i,
    ],
    ['says what is no HTTP', (socket) => socket.end('hello\r\n\r\n'), /parse|expected/i],
    ['hangs up', (socket) => socket.destroy(), /closed|ECONNRESET/],
  ];
  for (const [why, does, error] of cases) {
    onConnect = (socket) => {
      sockets.push(socket.resume().on('end', () => socket.destroy()));
      does(socket);
    };
    const began = performance.now();
    await assert.rejects(proxied.connect(publicPlace, 'plum.invalid', 443, signal), error, why);
    assert.ok(performance.now() - began < 8 * connectMs, why);
  }
  const given = AbortSignal.abort(new Error('not wanted'));
  await assert.rejects(proxied.connect(publicPlace, 'plum.invalid', 443, given), /not wanted/);
  onConnect = makeTunnel;
  (await proxied.connect(publicPlace, 'plum.invalid', 443, signal)).destroy();
  for (const deadline = performance.now() + 5_000; sockets.some(({ closed }) => !closed); await sleep(20))
    assert.ok(performance.now() < deadline, 'no connection to the proxy is left');
});
