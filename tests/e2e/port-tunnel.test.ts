/** Connections to ports of an agent over WebSocket: the real API, engine and store; servers of this process are the agent's. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createWeb, get } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { after, before, test } from 'node:test';
import { guestdPort } from '@lodge/guest';
import { Lodge } from '@lodge/sdk';
import type { WebSocketClass } from '@lodge/sdk';
import { FakeHost } from '@lodge/vm/fake';
import { WebSocket } from 'ws';
import { openWorld } from './api/world.ts';
import type { World } from './api/world.ts';
import { Client } from './contract/states.ts';

const mib = 1024 * 1024;
let world: World;
let client: Client;
let id: string;
before(async () => {
  const host = new FakeHost();
  let machines = 0;
  // All of 127/8 leads here.
  host.newAddress = () => `127.9.1.${(machines += 1)}`;
  world = await openWorld({ host, api: (usual) => ({ ...usual, terminalIdleMs: 2_000 }) });
  client = new Client(world);
  id = await client.agent('running');
});
after(() => world?.close());

/** A server as an agent has one. */
async function listening(t: { after(end: () => void): void }, answer: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket.on('error', () => undefined));
    answer(socket);
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const holds = async (): Promise<number> =>
  (await world.sql.query<{ n: number }>('select count(*)::int as n from agent_holds')).rows[0]!.n;

async function seen(look: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 20_000; !(await look());) {
    assert.ok(Date.now() < deadline, `not seen: ${String(look)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

interface Opened {
  readonly agent?: string;
  readonly key?: string;
  readonly query?: string;
  readonly protocols?: readonly string[];
}
function socketTo(port: number | string, { agent = id, key = world.key, query = '', protocols }: Opened = {}) {
  const url = `${world.url.replace('http', 'ws')}/v1/agents/${agent}/ports/${port}/tunnel${query}`;
  return protocols ? new WebSocket(url, [...protocols]) : new WebSocket(url, { headers: { 'x-api-key': key } });
}

/** Everything that comes until the end, and how it ends. */
class Tunnel {
  readonly socket: WebSocket;
  readonly got: Buffer[] = [];
  readonly said: string[] = [];
  readonly closed: Promise<{ readonly code: number; readonly why: string }>;
  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.got.push(data);
      else this.said.push(data.toString());
    });
    this.closed = once(socket, 'close').then(([code, why]) => ({ code: code as number, why: String(why) }));
  }
  static async open(port: number, given: Opened = {}): Promise<Tunnel> {
    const tunnel = new Tunnel(socketTo(port, given));
    await once(tunnel.socket, 'open');
    return tunnel;
  }
  end(): void {
    this.socket.send('{"type":"end"}');
  }
  get text(): string {
    return Buffer.concat(this.got).toString();
  }
}

/** The refusal of a handshake. */
async function refused(port: number | string, given: Opened = {}): Promise<readonly [number, string, string]> {
  const socket = socketTo(port, given);
  socket.on('error', () => undefined);
  const [, reply] = (await once(socket, 'unexpected-response')) as [unknown, import('node:http').IncomingMessage];
  const { error } = JSON.parse(Buffer.concat(await reply.toArray()).toString()) as { error: Record<string, string> };
  return [reply.statusCode!, error['code']!, error['message']!];
}

test('bytes go both ways, each side may end first, and the agent is held awake until the end', async (t) => {
  const port = await listening(t, (socket) => {
    let asked = '';
    socket.on('data', (chunk: Buffer) => (asked += chunk.toString()));
    // It answers once its client has ended: only half of the connection may end with that.
    socket.on('end', () => socket.end(`you said ${asked}`));
  });
  const tunnel = await Tunnel.open(port);
  await seen(async () => (await holds()) > 0);
  tunnel.socket.send(Buffer.from('one '));
  tunnel.socket.send(Buffer.from('two'));
  tunnel.end();
  assert.deepEqual(await tunnel.closed, { code: 1000, why: 'both sides have ended' });
  assert.equal(tunnel.text, 'you said one two');
  assert.deepEqual(tunnel.said, ['{"type":"end"}']);
  await seen(async () => (await holds()) === 0);
});

test('32 MiB go up and down whole to readers who are slow, and little of it is held meanwhile', async (t) => {
  const bytes = randomBytes(32 * mib);
  const digest = (of: Buffer): string => createHash('sha256').update(of).digest('hex');
  let taken = '';
  const port = await listening(t, (socket) => {
    const chunks: Buffer[] = [];
    socket.pause();
    setTimeout(() => socket.resume(), 500);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('end', () => {
      taken = digest(Buffer.concat(chunks));
      socket.end(bytes);
    });
  });
  const tunnel = await Tunnel.open(port);
  for (let at = 0; at < bytes.length; at += mib) tunnel.socket.send(bytes.subarray(at, at + mib));
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.ok(tunnel.socket.bufferedAmount > 8 * mib, 'the server takes no more than the agent does');
  tunnel.end();
  await seen(async () => taken !== '');
  assert.equal(taken, digest(bytes));
  tunnel.socket.pause();
  await new Promise((resolve) => setTimeout(resolve, 500));
  tunnel.socket.resume();
  assert.equal((await tunnel.closed).code, 1000);
  assert.equal(digest(Buffer.concat(tunnel.got)), digest(bytes));
});

test('HTTP works through it, with many connections at once', async (t) => {
  const web = createWeb((request, response) => response.end(`page ${request.url}`)).listen(0, '0.0.0.0');
  await once(web, 'listening');
  t.after(() => web.close());
  const { port } = web.address() as AddressInfo;
  const ask = async (path: string): Promise<string> => {
    const { socket } = await Tunnel.open(port);
    const stream = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => socket.send(chunk, done),
    });
    socket.on('message', (data: Buffer, isBinary) => isBinary && stream.push(data));
    socket.on('close', () => stream.push(null));
    const request = get({ path, createConnection: () => stream, headers: { connection: 'close' } });
    const [reply] = (await once(request, 'response')) as [import('node:http').IncomingMessage];
    const text = Buffer.concat(await reply.toArray()).toString();
    socket.close();
    return text;
  };
  const paths = Array.from({ length: 20 }, (_, n) => `/${n}`);
  assert.deepEqual(
    await Promise.all(paths.map(ask)),
    paths.map((path) => `page ${path}`),
  );
});

test('nothing is upgraded before key, scope, agent, state and port are right', async (t) => {
  const port = await listening(t, () => undefined);
  const reader = await world.keyOf(world.accountId, ['agents:read']);
  const stranger = await world.keyOf(await world.newAccount());
  const code = async (...given: Parameters<typeof refused>) => (await refused(...given)).slice(0, 2);
  assert.deepEqual(await code(port, { key: 'wrong' }), [401, 'invalid_api_key']);
  assert.deepEqual(await code(port, { key: reader }), [403, 'insufficient_scope']);
  assert.deepEqual(await code(port, { key: stranger }), [404, 'agent_not_found']);
  for (const wrong of ['0', '65536', '-1', 'x', '080', '3000%2f..']) {
    assert.deepEqual(await code(wrong), [400, 'invalid_request'], wrong);
  }
  const gateway = 80;
  for (const ours of [guestdPort, gateway]) {
    const [status, name, message] = await refused(ours);
    assert.deepEqual([status, name], [400, 'invalid_request']);
    assert.match(message, /is used by the service itself/);
  }
  assert.deepEqual(await code(port, { query: '?wake=perhaps' }), [400, 'invalid_request']);
  const plain = await client.call('GET', `/agents/${id}/ports/${port}/tunnel`);
  assert.deepEqual([plain.status, plain.body.error.code], [400, 'invalid_request']);
  const stopped = await client.agent('stopped');
  assert.deepEqual(await code(port, { agent: stopped }), [409, 'agent_not_running']);
  const woken = await Tunnel.open(port, { agent: stopped, query: '?wake=true' });
  woken.socket.close();
  assert.equal(await client.status(stopped), 'running');
  const free = createServer().listen(0);
  await once(free, 'listening');
  const closed = (free.address() as AddressInfo).port;
  await new Promise((resolve) => free.close(resolve));
  const [status, name, message] = await refused(closed);
  assert.deepEqual([status, name], [503, 'agent_unavailable']);
  assert.match(message, new RegExp(`Nothing answers at port ${closed}`));
});

test('the SDK speaks it: bytes both ways, ends of each side, and the API’s own refusals', async (t) => {
  const bytes = randomBytes(4 * mib);
  const port = await listening(t, (socket) => void socket.pipe(socket));
  const lodge = new Lodge({ baseUrl: world.url, apiKey: world.key, webSocket: WebSocket as unknown as WebSocketClass });
  const tunnel = await lodge.ports.tunnel(id, port);
  const echoed = (async () => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of tunnel.input) chunks.push(chunk);
    return Buffer.concat(chunks);
  })();
  await tunnel.write(bytes);
  tunnel.end();
  assert.ok((await echoed).equals(bytes));
  assert.deepEqual(await tunnel.closed, { isWhole: true, reason: 'both sides have ended' });
  await assert.rejects(lodge.ports.tunnel('aaaaaaaaaaaa', port), { code: 'agent_not_found' });
});

test('a browser gives its key as a subprotocol, which is not said back', async (t) => {
  const port = await listening(t, (socket) => socket.end('hello'));
  const tunnel = await Tunnel.open(port, { protocols: ['lodge.tunnel', `bearer.${world.key}`] });
  assert.equal(tunnel.socket.protocol, 'lodge.tunnel');
  tunnel.end();
  assert.equal((await tunnel.closed).code, 1000);
  assert.equal(tunnel.text, 'hello');
});

test('silence, words that are none of the protocol, a broken connection and the end of the key end it', async (t) => {
  const quiet = await listening(t, () => undefined);
  assert.deepEqual(await (await Tunnel.open(quiet)).closed, { code: 1000, why: 'nothing went through for too long' });
  const babbling = await Tunnel.open(quiet);
  babbling.socket.send('{"type":"resize"}');
  assert.equal((await babbling.closed).code, 1007);
  const huge = await Tunnel.open(quiet);
  huge.socket.send(Buffer.alloc(mib + 1));
  assert.equal((await huge.closed).code, 1009);
  const breaking = await listening(t, (socket) => void socket.once('data', () => socket.resetAndDestroy()));
  const broken = await Tunnel.open(breaking);
  broken.socket.send(Buffer.from('x'));
  assert.equal((await broken.closed).code, 1011);

  const key = await world.keyOf(world.accountId, ['agents:write']);
  const open = await Tunnel.open(quiet, { key });
  const typing = setInterval(() => open.socket.send(Buffer.from('x')), 200);
  t.after(() => clearInterval(typing));
  await world.sql.query(`update api_keys set revoked_at = now() where account_id = $1 and scopes = '{agents:write}'`, [
    world.accountId,
  ]);
  assert.equal((await open.closed).code, 1008);
  await seen(async () => (await holds()) === 0);
});

test('an agent has 128 at once, and the places come free', async (t) => {
  const port = await listening(t, (socket) => void socket.on('end', () => socket.end()));
  const typing = (tunnel: Tunnel): NodeJS.Timeout => setInterval(() => tunnel.socket.send(Buffer.from('x')), 500);
  const all: Tunnel[] = [];
  const timers: NodeJS.Timeout[] = [];
  t.after(() => timers.forEach((timer) => clearInterval(timer)));
  for (let n = 0; n < 128; n += 1) {
    const tunnel = await Tunnel.open(port);
    all.push(tunnel);
    timers.push(typing(tunnel));
  }
  const [status, code, message] = await refused(port);
  assert.deepEqual([status, code], [503, 'agent_unavailable'], message);
  assert.match(message, /128 tunnels/);
  for (const timer of timers) clearInterval(timer);
  for (const tunnel of all) tunnel.socket.terminate();
  await seen(async () => (await holds()) === 0);
  const again = await Tunnel.open(port);
  again.end();
  assert.equal((await again.closed).code, 1000);
});
