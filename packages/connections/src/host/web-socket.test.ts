import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect as connectPlain } from 'node:net';
import type { Duplex } from 'node:stream';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { startTlsServices } from '../testing/tls-services.ts';
import { known, placeholder, startWorld } from '../testing/world.ts';
import type { TestWorld } from '../testing/world.ts';

const secret = `xoxb-${randomBytes(24).toString('hex')}`;
const token = placeholder('CHAT_TOKEN');
const host = 'chat.example';
const seen: IncomingMessage['headers'][] = [];
const mask = Buffer.from([9, 8, 7, 6]);

const frame = (text: string, isMasked: boolean): Buffer => {
  const payload = Buffer.from(text);
  assert.ok(payload.length < 126);
  const head = [0x81, payload.length | (isMasked ? 0x80 : 0), ...(isMasked ? mask : [])];
  return Buffer.concat([Buffer.from(head), payload.map((byte, n) => (isMasked ? byte ^ mask[n % 4]! : byte))]);
};
const read = (bytes: Buffer): string => {
  const isMasked = bytes[1]! >> 7 === 1;
  const payload = bytes.subarray(isMasked ? 6 : 2);
  return payload.map((byte, n) => (isMasked ? byte ^ mask[n % 4]! : byte)).toString();
};

/** A server that repeats messages, or tells what it should not. */
function serve(req: IncomingMessage, socket: Duplex): void {
  seen.push(req.headers);
  socket.on('error', () => undefined);
  if (req.url === '/chat/none') return void socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n');
  const accept = hash('sha1', `${req.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`, 'base64');
  const more = req.url === '/chat/packed' ? 'sec-websocket-extensions: permessage-deflate\r\n' : '';
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\nx-told: ${secret}\r\n${more}\r\n`,
  );
  socket.on('data', (bytes: Buffer) => {
    const text = read(bytes);
    if (text === 'tell') socket.write(frame(secret, false));
    else if (text === 'tell packed') socket.write(Buffer.from([0xc1, 1, 0]));
    else if (text === 'tell in two') {
      socket.write(frame(secret.slice(0, 20), false));
      socket.write(frame(secret.slice(20), false));
    } else socket.write(frame(`you said ${text}`, false));
  });
}

let services: Awaited<ReturnType<typeof startTlsServices>>;
let world: TestWorld;
let ca: string;

before(async () => {
  services = await startTlsServices((_req, res) => void res.end(), serve);
  world = await startWorld({ hostOutbound: services.outbound, hostBounds: { callsPerMinute: 6_000 } });
  ca = await world.trusted();
});
after(async () => {
  await world?.close();
  await services?.close();
});
const put = (given: object = {}) =>
  world.put(known, {
    name: 'chat',
    kind: 'host',
    url: `https://${host}`,
    hosts: [host],
    allow: [
      { methods: ['GET'], paths: ['/chat/*'] },
      { methods: ['POST'], paths: ['/post'] },
    ],
    secrets: { CHAT_TOKEN: { value: secret, in: ['authorization'] } },
    ...given,
  });
beforeEach(() => {
  seen.length = 0;
  world.lines.length = 0;
  world.echoed.length = 0;
  put();
});

interface Opening {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Opens one from the machine; `head` is the answer. */
async function open({ method = 'GET', path = '/chat/a', headers = {} }: Opening = {}) {
  const plain = connectPlain({ port: world.broker.port, host: '127.0.0.1', localAddress: known });
  const socket: TLSSocket = connect({ socket: plain, ca, servername: host });
  plain.on('error', () => socket.destroy());
  socket.on('error', () => undefined);
  const all = {
    host,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version': '13',
    'sec-websocket-extensions': 'permessage-deflate',
    authorization: `Bearer ${token}`,
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  const [first] = (await once(socket, 'data', { signal: AbortSignal.timeout(20_000) })) as [Buffer];
  return { socket, head: first.toString('latin1') };
}

async function said(socket: TLSSocket, text: string): Promise<string | null> {
  socket.write(frame(text, true));
  const closed = once(socket, 'close').then(() => null);
  const answer = once(socket, 'data').then(([bytes]) => read(bytes as Buffer));
  return Promise.race([answer, closed]);
}

async function line(words: RegExp): Promise<string> {
  for (let tries = 0; tries < 200; tries += 1) {
    const found = world.lines.find(({ entry }) => words.test(entry.message));
    if (found !== undefined) return found.entry.message;
    await sleep(25);
  }
  return assert.fail(`no line ${words}: ${JSON.stringify(world.lines)}`);
}

test('a program opens a WebSocket with its placeholder, and messages pass both ways', async () => {
  const { socket, head } = await open();
  assert.match(head, /^HTTP\/1\.1 101 /);
  assert.match(head, /sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/);
  assert.ok(!head.includes('x-told'));
  assert.equal(await said(socket, 'hello'), 'you said hello');
  assert.equal(await said(socket, 'again'), 'you said again');
  assert.deepEqual(
    [seen[0]!['authorization'], seen[0]!['sec-websocket-extensions'], seen[0]!['sec-websocket-version']],
    [`Bearer ${secret}`, undefined, '13'],
  );
  socket.end();
  assert.match(
    await line(/WebSocket/),
    /GET chat\.example\/chat\/a was a WebSocket for \d s, 10 bytes to the server and 28 bytes/,
  );
});

test('each gives its place back at its end', async () => {
  for (let n = 0; n < 30; n += 1) {
    const { socket, head } = await open();
    assert.match(head, /^HTTP\/1\.1 101 /, `${n}`);
    socket.destroy();
  }
});

test('a message that comes byte by byte passes once it is whole', async () => {
  const { socket } = await open();
  const bytes = frame('slowly', true);
  for (const byte of bytes.subarray(0, -1)) socket.write(Buffer.from([byte]));
  await sleep(50);
  assert.equal(socket.bytesRead > 0 && socket.readableLength, 0);
  socket.write(bytes.subarray(-1));
  const [answer] = (await once(socket, 'data')) as [Buffer];
  assert.equal(read(answer), 'you said slowly');
  socket.destroy();
});

test('one is opened by what is allowed alone, and a refusal is an answer', async () => {
  for (const [opening, status] of [
    [{ path: '/other' }, 403],
    [{ method: 'POST', path: '/post' }, 400],
    [{ path: '/chat/../other' }, 400],
    [{ headers: { host: 'other.example' } }, 421],
    [{ headers: { 'x-other': token } }, 400],
    [{ headers: { 'sec-websocket-protocol': token } }, 400],
    [{ path: `/chat/a?token=${token}` }, 400],
    [{ path: '/chat/none' }, 502],
    [{ path: '/chat/packed' }, 502],
  ] as const) {
    const { head, socket } = await open(opening);
    assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `), JSON.stringify(opening));
    assert.ok(!head.includes(secret));
    socket.destroy();
  }
  assert.equal(seen.length, 2);
});

test('a message with the secret or a placeholder ends it, and is logged', async () => {
  for (const [text, words] of [
    ['tell', /held the connection's credential/],
    ['tell packed', /not as it was agreed/],
    [token, /placeholder of a secret/],
    [Buffer.from(token).toString('base64'), /placeholder of a secret/],
  ] as const) {
    world.lines.length = 0;
    const { socket } = await open();
    assert.equal(await said(socket, text), null, text);
    assert.match(await line(/was a WebSocket/), words);
  }
  const { socket } = await open();
  const chunks: Buffer[] = [];
  socket.on('data', (bytes: Buffer) => chunks.push(bytes));
  socket.write(frame('tell in two', true));
  await once(socket, 'close', { signal: AbortSignal.timeout(20_000) });
  assert.ok(!Buffer.concat(chunks).includes(secret.slice(20)));
  assert.equal(world.echoed.length, 2);
  assert.ok(!JSON.stringify([world.lines, world.logged]).includes(secret));
});

test('it ends when the connection is changed or removed', async () => {
  const { socket } = await open();
  assert.equal(await said(socket, 'hello'), 'you said hello');
  put({ enabled: false });
  await once(socket, 'close', { signal: AbortSignal.timeout(20_000) });
  assert.match(await line(/was a WebSocket/), /the connection was changed or removed/);
});
