/** Nobody holds a connection to the API for ever: not by half a head, a slow body, an unread reply, or many at once. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as secure } from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, test } from 'node:test';
import type { NetworkSettings } from '../context.ts';
import { answerClientError } from '../pipeline/errors.ts';
import { serverFactory } from './listener.ts';
import type { OtherHosts } from './listener.ts';
import { ConnectionPlaces } from './places.ts';
import { selfSigned } from './testing/certificate.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const large = Buffer.alloc(16 * 1024 * 1024, 'x');
const bounds = { handshakeMs: 400, headersMs: 400, bodyMs: 400, stalledMs: 400 };
const get = 'GET /early HTTP/1.1\r\nHost: api\r\n\r\n';
const opened: { readonly server: Server; readonly clients: Socket[] }[] = [];

const echo = (request: IncomingMessage, response: ServerResponse): void =>
  void text(request).then(
    (body) => response.end(body),
    () => undefined,
  );
const hosts: OtherHosts = {
  takes(request, response) {
    if (request.headers.host !== 'agent') return false;
    if (request.url === '/large') response.end(large);
    else echo(request, response);
    return true;
  },
  takesUpgrade(request, socket) {
    if (request.headers.host !== 'agent') return false;
    socket.on('error', () => undefined).write(large);
    return true;
  },
};

function answer(request: IncomingMessage, response: ServerResponse): void {
  if (request.url === '/large') response.end(large);
  else if (request.url === '/early') response.end('early');
  else echo(request, response);
}

/** A server, and a function that opens a connection to it, from a loopback address, that does not close by itself. */
async function listening(
  network: Partial<NetworkSettings> = {},
  headersMs = bounds.headersMs,
  closing = new AbortController().signal,
) {
  const places = new ConnectionPlaces(network, silent);
  const server = serverFactory(network, { hosts, places, closing, ...bounds, headersMs })(answer, {});
  const seen = { connections: 0 };
  server.on('connection', () => (seen.connections += 1));
  server.on('clientError', answerClientError);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const clients: Socket[] = [];
  opened.push({ server, clients });
  const client = (sends: string, localAddress = '127.0.0.1'): Socket => {
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
    socket.on('error', () => undefined).write(sends);
    clients.push(socket);
    return socket;
  };
  const count = (): Promise<number> =>
    new Promise((resolve, reject) => {
      server.getConnections((error, found) => (error ? reject(error) : resolve(found)));
    });
  /** Waits until so many of the given number are open. */
  const open = async (wanted: number, ofAll: number): Promise<void> => {
    while (seen.connections < ofAll || (await count()) !== wanted) await sleep(10);
  };
  return { server, client, open };
}
afterEach(() => {
  for (const { server, clients } of opened.splice(0)) {
    for (const client of clients) client.destroy();
    server.close().closeAllConnections();
  }
});

/** Returns the reply to a body that is sent in two halves. */
async function halves(socket: Socket, afterMs: number): Promise<string> {
  const reply = text(socket);
  await sleep(afterMs);
  if (socket.writable) socket.write('um');
  return reply;
}
const head = (host: string, path = '/') =>
  `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Length: 4\r\n\r\npl`;

test('a body that comes late is cut off at the API, whether or not it was answered, and waited for elsewhere', async () => {
  const { client } = await listening();
  assert.match(await halves(client(head('api')), 0), /^HTTP\/1\.1 200 [^]*plum$/);
  assert.match(await halves(client(head('api')), 800), /^HTTP\/1\.1 408 [^]*too long to arrive/);
  assert.match(await halves(client(head('agent')), 800), /^HTTP\/1\.1 200 [^]*plum$/);
  const answered = client(head('api', '/early').replace('close', 'keep-alive')).resume();
  await once(answered, 'end');
});

test('who was answered with an error and neither reads nor closes counts no more', { timeout: 20_000 }, async () => {
  const { client, open } = await listening();
  for (let i = 0; i < 20; i += 1) {
    client('GET / HTTP/1.1\r\nHost: api\r\nX-Half: ');
    client('no HTTP at all\r\n\r\n');
    client(head('api'));
  }
  client('');
  await open(0, 61);
});

test('a TLS handshake that fails or never ends gives its place back', { timeout: 20_000 }, async () => {
  const tls = selfSigned();
  const { client, open } = await listening({ tls, maxOfNetwork: 15 });
  for (const sends of ['', '\x16\x03\x01', get]) for (let i = 0; i < 5; i += 1) client(sends);
  await open(0, 15);
  const good = secure({ socket: client(''), ca: tls.cert, host: 'localhost' });
  await once(good, 'secureConnect');
});

test(
  'a reply that nobody takes ends, at the API, at an agent, and behind an upgrade',
  { timeout: 20_000 },
  async () => {
    const { client, open } = await listening();
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
    client('GET /large HTTP/1.1\r\nHost: api\r\n\r\n');
    client('GET /large HTTP/1.1\r\nHost: agent\r\n\r\n');
    client(`GET / HTTP/1.1\r\nHost: agent\r\n${upgrade}\r\n`);
    await open(0, 3);
  },
);

/** Whether a connection from this address is answered. */
async function isServed(client: (sends: string, from: string) => Socket, from: string): Promise<boolean> {
  const socket = client(get, from);
  const refused = Promise.any([once(socket, 'end'), once(socket, 'close')]);
  return Promise.race([once(socket, 'data').then(() => true), refused.then(() => false)]);
}

const longMs = 600_000;

test('the end of a server waits for requests, and for no connection without one', { timeout: 20_000 }, async () => {
  for (const network of [{}, { tls: selfSigned() }]) {
    const closing = new AbortController();
    const { server, client, open } = await listening(network, longMs, closing.signal);
    const slow = network.tls ? secure({ socket: client(''), ca: network.tls.cert, host: 'localhost' }) : client('');
    if (network.tls)
      await once(secure({ socket: client(''), ca: network.tls.cert, host: 'localhost' }), 'secureConnect');
    else for (const sends of ['', 'GET / HT', `${get}GET / HT`]) client(sends);
    slow.write(head('api').replace('close', 'keep-alive'));
    await once(server, 'request');
    const reply = text(slow);
    await open(network.tls ? 2 : 4, network.tls ? 2 : 4);
    closing.abort();
    const closed = new Promise((resolve) => server.close(resolve));
    await open(1, 0);
    slow.write('um');
    assert.match(await reply, /plum$/);
    await closed;
  }
});

test('one network takes no more than its part, and what it gives back can be taken again', async () => {
  const { client, open } = await listening({ maxConnections: 100, maxOfNetwork: 10 }, longMs);
  const many = Array.from({ length: 30 }, () => client('GET', '127.1.1.1'));
  await open(10, 30);
  assert.equal(await isServed(client, '127.2.2.2'), true);
  assert.equal(await isServed(client, '127.1.1.1'), false);
  for (const one of many) one.destroy();
  while (!(await isServed(client, '127.1.1.1'))) await sleep(10);
});

test('whatever few sites hold, who holds little is served', async () => {
  const { client, open } = await listening({ maxConnections: 100 }, longMs);
  for (let site = 1; site <= 5; site += 1) for (let i = 0; i < 30; i += 1) client('GET', `127.${site}.1.1`);
  // The first three have a quarter each, and the others eight each of the last quarter.
  await open(91, 150);
  assert.equal(await isServed(client, '127.9.9.9'), true);
  assert.equal(await isServed(client, '127.1.1.2'), false, 'another address of a site that holds much');
});

test('a proxy that is trusted brings as many as there are places', async () => {
  const network = { maxConnections: 40, maxOfNetwork: 5, trustedProxies: ['127.7.0.0/16'] };
  const { client, open } = await listening(network, longMs);
  for (let i = 0; i < 50; i += 1) client('GET', '127.7.1.1');
  await open(40, 50);
});
