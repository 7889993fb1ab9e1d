/** The way of agents to the package sources: to these hosts alone, and while packages are installed alone. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { text } from 'node:stream/consumers';
import { createOutbound } from '@lodge/egress';
import type { Outbound } from '@lodge/egress';
import { readConfig } from '../config/config.ts';
import { SourceProxy } from './proxy.ts';
import { areThroughHost, sourceHosts } from './sources.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const guest = { agentId: 'a', accountId: 'b', runtimeKind: 'runtime_a', confirmations: null } as const;
const never = new AbortController().signal;
const longestMs = 1_500;
let isOpen = true;
let source: Server;
let proxy: Server;
/** The operator's own proxy, and the requests that came to it. */
let operators: Server;
const asked: string[] = [];
let outbound: Outbound;

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

before(async () => {
  source = createServer((req, res) => {
    const { host, cookie, range } = req.headers;
    res.setHeader('set-cookie', 'a=b').end(JSON.stringify([req.method, req.url, host, cookie, range]));
  }).listen(0, '127.0.0.1');
  await once(source, 'listening');
  operators = createServer((req, res) => {
    asked.push(`${req.method} ${req.url}`);
    res.end('by way of the operator’s proxy');
  });
  operators.on('connect', (req, socket: Socket) => {
    asked.push(`CONNECT ${req.url}`);
    socket.on('error', () => undefined);
    if (req.url === 'pypi.org:443') return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    socket.pipe(socket);
  });
  operators.listen(0, '127.0.0.1');
  await once(operators, 'listening');
  const config = readConfig({
    LODGE_PACKAGES_NPM: `http://127.0.0.1:${portOf(source)}/npm/`,
    LODGE_EGRESS_PROXY: `http://127.0.0.1:${portOf(operators)}`,
  });
  assert.equal(areThroughHost(config), true);
  outbound = createOutbound(1_000, config.egressProxy);
  const parts = { hosts: sourceHosts(config), outbound, longestMs, isOpen: () => isOpen, log: silent };
  const sources = new SourceProxy(parts);
  proxy = createServer((req, res) => void sources.request(guest, req, res, never));
  proxy.on('connect', (req, socket, head) => void sources.tunnel(guest, req.url!, socket, head, never));
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
});
after(async () => {
  await outbound.close();
  for (const server of [source, proxy, operators]) server.close().closeAllConnections();
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

test('public sources are reached through the operator’s proxy, and mirrors straight', async () => {
  asked.length = 0;
  assert.equal(await text(await ask('http://deb.debian.org/debian/x')), 'by way of the operator’s proxy');
  const [status, socket] = await tunnelTo('deb.debian.org:443');
  socket.end('echo');
  assert.deepEqual([status, await text(socket)], [200, 'echo']);
  const refused = request({ port: portOf(proxy), method: 'CONNECT', path: 'pypi.org:443' }).end();
  await assert.rejects(once(refused, 'connect'), /hang up/);
  await text(await ask(`http://127.0.0.1:${portOf(source)}/npm/plum`));
  assert.deepEqual(asked, ['GET http://deb.debian.org/debian/x', 'CONNECT deb.debian.org:443', 'CONNECT pypi.org:443']);
});

test('a tunnel ends with the install, and after the longest time that a tool has', async () => {
  for (const [mode, leastMs] of [
    ['the install ends', 0],
    ['time is over', 1_200],
  ] as const) {
    const began = performance.now();
    const [, socket] = await tunnelTo('deb.debian.org:443');
    const busy = setInterval(() => socket.write('x'), 50);
    isOpen = mode !== 'the install ends';
    // A byte written while the tunnel ends may come back as an error, which is an end like any other.
    socket.on('error', () => undefined).resume();
    await new Promise((closed) => socket.once('close', closed));
    clearInterval(busy);
    const took = performance.now() - began;
    assert.ok(took >= leastMs && took < longestMs + 5_000, `${mode}: ${took} ms`);
    isOpen = true;
  }
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
