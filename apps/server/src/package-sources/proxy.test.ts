/** The way of agents to the package sources: to these hosts alone, and while packages are installed alone. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { text } from 'node:stream/consumers';
import { readConfig } from '../config/config.ts';
import { SourceProxy } from './proxy.ts';
import { areThroughHost, sourceHosts } from './sources.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const guest = { agentId: 'a', accountId: 'b', runtimeKind: 'runtime_a' } as const;
const never = new AbortController().signal;
let isOpen = true;
let source: Server;
let proxy: Server;

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

before(async () => {
  source = createServer((req, res) => {
    const { host, cookie, range } = req.headers;
    res.setHeader('set-cookie', 'a=b').end(JSON.stringify([req.method, req.url, host, cookie, range]));
  }).listen(0, '127.0.0.1');
  await once(source, 'listening');
  const config = readConfig({ LODGE_PACKAGES_NPM: `http://127.0.0.1:${portOf(source)}/npm/` });
  assert.equal(areThroughHost(config), true);
  const parts = { hosts: sourceHosts(config), egressProxy: null, isOpen: () => isOpen, log: silent };
  const sources = new SourceProxy(parts);
  proxy = createServer((req, res) => void sources.request(guest, req, res, never));
  proxy.on('connect', (req, socket, head) => void sources.tunnel(guest, req.url!, socket, head, never));
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
});
after(() => {
  for (const server of [source, proxy]) server.close().closeAllConnections();
});

function ask(url: string, method = 'GET'): Promise<IncomingMessage> {
  const sent = request({ port: portOf(proxy), method, path: url, headers: { cookie: 'c', range: 'bytes=0-1' } }).end();
  return once(sent, 'response').then(([answer]) => answer as IncomingMessage);
}

async function tunnelTo(place: string): Promise<[status: number, socket: Socket]> {
  const sent = request({ port: portOf(proxy), method: 'CONNECT', path: place }).end();
  const [answer, socket] = (await once(sent, 'connect')) as [IncomingMessage, Socket];
  return [answer.statusCode!, socket];
}

test('a plain request reaches the mirror, with the headers of a package client alone', async () => {
  const place = `127.0.0.1:${portOf(source)}`;
  const answer = await ask(`http://${place}/npm/plum?x=1`);
  assert.deepEqual([answer.statusCode, answer.headers['set-cookie']], [200, undefined]);
  assert.deepEqual(JSON.parse(await text(answer)), ['GET', '/npm/plum?x=1', place, null, 'bytes=0-1']);
  assert.equal((await ask(`http://${place}/npm/plum`, 'POST')).statusCode, 405);
});

test('a tunnel passes bytes both ways', async () => {
  const [status, socket] = await tunnelTo(`127.0.0.1:${portOf(source)}`);
  assert.equal(status, 200);
  socket.write('GET /deep HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  assert.match(await text(socket), /\["GET","\/deep","x",null,null\]/);
});

test('no other host is reached, and none while nothing is installed', async () => {
  const place = `127.0.0.1:${portOf(source)}`;
  for (const url of [`http://127.0.0.1:${portOf(proxy)}/`, 'http://169.254.169.254/', `http://${place}@example.com/`])
    assert.equal((await ask(url)).statusCode, 403, url);
  assert.equal((await tunnelTo('127.0.0.1:22'))[0], 403);
  isOpen = false;
  assert.equal((await ask(`http://${place}/npm/plum`)).statusCode, 403);
  assert.equal((await tunnelTo(place))[0], 403);
  isOpen = true;
});

test('hosts are the public ones, or the mirrors in their place', () => {
  const open = sourceHosts(readConfig({}));
  assert.deepEqual([open.mirrors.size, open.public.has('pypi.org:443')], [0, true]);
  assert.equal(areThroughHost(readConfig({})), false);
  const own = sourceHosts(
    readConfig({
      LODGE_PACKAGES_APT: 'deb http://Mirror.example/debian {release} main; deb [trusted=yes] https://m.example/x ./',
      LODGE_PACKAGES_HOSTS: 'files.example,cdn.example:8443',
    }),
  );
  assert.deepEqual([...own.mirrors], ['mirror.example:80', 'm.example:443', 'files.example:443', 'cdn.example:8443']);
  assert.deepEqual([own.public.has('deb.debian.org:80'), own.public.has('registry.npmjs.org:443')], [false, true]);
  for (const bad of ['main', 'deb ftp://a b c', 'deb http://a/$(id) x y'])
    assert.throws(() => readConfig({ LODGE_PACKAGES_APT: bad }), /LODGE_PACKAGES_APT must be lines/);
});
