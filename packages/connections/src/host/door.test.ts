import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect as connectPlain } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { startTlsServices } from '../testing/tls-services.ts';
import { known, other, placeholder, startWorld } from '../testing/world.ts';
import type { TestWorld } from '../testing/world.ts';

const secret = `ghp_${randomBytes(24).toString('hex')}`;
const token = placeholder('GITHUB_TOKEN');
const [api, web, shop] = ['api.code.example', 'code.example', 'shop.example'] as const;

interface Seen {
  readonly line: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

async function startServices() {
  const seen: Seen[] = [];
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
    } catch {
      return; // The door gave the request up.
    }
    const body = Buffer.concat(chunks);
    const { method, url, headers } = req;
    seen.push({ line: `${method} https://${headers.host}${url}`, headers, body: body.subarray(0, 1_000).toString() });
    if (url === '/repos/echo') return void res.end(`You sent ${headers.authorization}.`);
    if (url === '/repos/moved') return void res.writeHead(302, { location: `https://${web}/team/it` }).end();
    if (url === '/repos/away') return void res.writeHead(302, { location: `https://${shop}/team/it` }).end();
    if (url === '/repos/forbidden-way') return void res.writeHead(302, { location: '/admin' }).end();
    res.writeHead(url === '/repos/made' ? 201 : 200, { 'x-own': 'yes', location: `https://${shop}/x` });
    res.end(`fine, ${body.length} bytes`);
  };
  const services = await startTlsServices((req, res) => void answer(req, res));
  return { ...services, seen };
}

let services: Awaited<ReturnType<typeof startServices>>;
let world: TestWorld;
let trusted: string;
const pushBytes = 40 * 2 ** 20;

before(async () => {
  services = await startServices();
  world = await startWorld({
    hostOutbound: services.outbound,
    hostBounds: { handshakeMs: 1_000, requestBytes: 2 ** 20, pushBytes, callsPerMinute: 60_000 },
  });
  trusted = await world.trusted();
});
after(async () => {
  await world?.close();
  await services?.close();
});
beforeEach(() => {
  services.seen.length = 0;
  world.lines.length = 0;
  world.echoed.length = 0;
  world.put(known, {
    name: 'code',
    kind: 'host',
    url: `https://${api}`,
    hosts: [api, web],
    allow: [
      { methods: ['GET', 'HEAD'], paths: ['/*'] },
      { methods: ['POST', 'PUT'], paths: ['/repos/*', '/team/it/git-receive-pack'] },
    ].map((each) => (each.methods[0] === 'GET' ? { ...each, paths: ['/repos/*', '/team/*', '/'] } : each)) as never,
    secrets: { GITHUB_TOKEN: { value: secret, in: ['authorization', 'x-key'] } },
  });
  world.put(known, {
    name: 'shop',
    kind: 'host',
    url: `https://${shop}`,
    hosts: [shop],
    allow: [{ methods: ['GET', 'POST'], paths: ['/*'] }],
    secrets: { SHOP_KEY: { value: `shop-${secret}`, in: ['x-shop-key'] } },
  });
});

interface Handshake {
  readonly name?: string;
  readonly from?: string;
  readonly ca?: string;
}

/** A program in the machine of an agent. */
async function dial({ name = api, from = known, ca = trusted }: Handshake = {}): Promise<TLSSocket> {
  const plain = connectPlain({ port: world.broker.port, host: '127.0.0.1', localAddress: from });
  const socket = connect({ socket: plain, ca, ...(name !== '' && { servername: name }) });
  plain.on('error', (error) => socket.destroy(error));
  await new Promise((resolve, reject) => {
    socket.once('secureConnect', () => resolve(undefined));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed')));
  });
  return socket;
}

interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

async function raw(text: string | Buffer, handshake?: Handshake): Promise<Answer> {
  const socket = await dial(handshake);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  socket.write(text);
  await once(socket, 'close');
  const [head = '', body = ''] = Buffer.concat(chunks).toString('latin1').split('\r\n\r\n', 2);
  const whole = /^transfer-encoding: chunked/im.test(head)
    ? body
        .split('\r\n')
        .filter((_, n) => n % 2 === 1)
        .join('')
    : body;
  return { status: Number(head.slice(9, 12)), head, body: whole };
}

interface Asked extends Handshake {
  readonly method?: string;
  readonly path?: string;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const ask = ({
  method = 'GET',
  path = '/repos/a',
  host,
  headers = {},
  body,
  ...handshake
}: Asked = {}): Promise<Answer> => {
  const lines = Object.entries({
    host: host ?? handshake.name ?? api,
    connection: 'close',
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return raw(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`, handshake);
};

const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('a program asks a host under its own name, with a certificate for it, and the secret is filled in on the way', async () => {
  const bearer = await ask({ headers: { authorization: `Bearer ${token}`, 'user-agent': 'gh' } });
  assert.deepEqual([bearer.status, bearer.body], [200, 'fine, 0 bytes']);
  const basic = await ask({ name: web, path: '/team/it', headers: { authorization: `Basic ${base64(`x:${token}`)}` } });
  const other = await ask({ headers: { 'x-key': `a ${token} b`, cookie: 'a=b' } });
  assert.deepEqual([basic.status, other.status], [200, 200]);
  assert.deepEqual(
    services.seen.map(({ line }) => line),
    [`GET https://${api}/repos/a`, `GET https://${web}/team/it`, `GET https://${api}/repos/a`],
  );
  const [first, second, third] = services.seen.map(({ headers }) => headers);
  assert.equal(first!['authorization'], `Bearer ${secret}`);
  assert.equal(first!['user-agent'], 'gh');
  assert.equal(second!['authorization'], `Basic ${base64(`x:${secret}`)}`);
  assert.deepEqual(
    [third!['x-key'], third!['cookie'], third!['authorization']],
    [`a ${secret} b`, undefined, undefined],
  );
  assert.match(
    world.lines[0]!.entry.message,
    /^Connection code: GET api\.code\.example\/repos\/a was answered with 200, /,
  );
  assert.ok(!JSON.stringify([world.lines, world.logged]).includes(secret));
});

test('the present rules count: a connection that is removed or disabled while a socket is open is used no more', async () => {
  const socket = await dial();
  world.put(known, { name: 'code', kind: 'host', url: `https://${api}`, hosts: [api], enabled: false });
  socket.write(`GET /repos/a HTTP/1.1\r\nhost: ${api}\r\n\r\n`);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  assert.match(chunk.toString(), /^HTTP\/1\.1 403 /);
  socket.destroy();
  assert.equal(services.seen.length, 0);
});

test('npm’s names of packages in scopes are sent as they are matched', async () => {
  for (const path of ['/repos/@acme%2fsite', '/repos/@acme%2Fsite', '/repos/@acme/site'])
    assert.equal((await ask({ path })).status, 200, path);
  const line = `GET https://${api}/repos/@acme/site`;
  assert.deepEqual(
    services.seen.map((each) => each.line),
    [line, line, line],
  );
});

test('no handshake for a name that is not the agent’s, for none, and for somebody else', async () => {
  for (const handshake of [
    { name: 'evil.example' },
    { name: '' },
    { name: `a.${api}` },
    { from: other },
    { from: '127.0.0.9' },
  ])
    await assert.rejects(dial(handshake), Error, JSON.stringify(handshake));
  const silent = connectPlain({ port: world.broker.port, host: '127.0.0.1', localAddress: known });
  silent.write(Buffer.from([0x16, 3, 1]));
  silent.on('error', () => undefined);
  await once(silent, 'close');
  assert.equal(services.seen.length, 0);
});

test('other guests’ plain requests come to the same port as before', async () => {
  const answer = await world.broker.fetchFrom(known)(`${world.broker.url}/connections`);
  const { data } = (await answer.json()) as { data: { name: string; kind: string }[] };
  assert.deepEqual(
    data.map(({ name, kind }) => `${name} ${kind}`),
    ['code host', 'shop host'],
  );
  assert.equal((await world.broker.fetchFrom(known)(`${world.broker.url}/connections/code/repos/a`)).status, 403);
});

/** Attempts to have the secret filled in where it may not go, or to be told of it. None reaches a service. */
const attempts: Readonly<Record<string, Asked & { readonly status?: number }>> = {
  'in a query': { path: `/repos/a?key=${token}` },
  'in a query, percent-encoded': {
    path: `/repos/a?key=${Buffer.from(token).toString('hex').replaceAll(/../g, '%$&')}`,
  },
  'in a query, in base64': { path: `/repos/a?key=${base64(token).replaceAll('=', '')}` },
  'in a path': { path: `/repos/${token}` },
  'in another header': { headers: { 'x-other': token } },
  'in a cookie': { headers: { cookie: `a=${token}` } },
  'in a user agent': { headers: { 'user-agent': token } },
  'in a referrer': { headers: { referer: `https://${shop}/${token}` } },
  'in another header, in base64': { headers: { 'x-other': base64(`x:${token}`) } },
  'in another header, in hex': { headers: { 'x-other': Buffer.from(token).toString('hex') } },
  'in a header that goes to nobody': { headers: { 'x-forwarded-for': token } },
  'in a proxy’s authorization': { headers: { 'proxy-authorization': `Basic ${base64(`x:${token}`)}` } },
  'in authorization, in base64 without Basic': { headers: { authorization: `Bearer ${base64(token)}` } },
  'in authorization, as base64 in Basic': { headers: { authorization: `Basic ${base64(`x:${base64(token)}`)}` } },
  'in authorization, in hex': { headers: { authorization: `Bearer ${Buffer.from(token).toString('hex')}` } },
  'in authorization, too often': { headers: { authorization: Array.from({ length: 5 }, () => token).join(' ') } },
  'in a body': { method: 'POST', body: `key=${token}` },
  'in a body, in base64': { method: 'POST', body: base64(`....${token}`) },
  'in a body, in JSON with escapes': { method: 'POST', body: `{"key":"\\u006c${token.slice(1)}"}` },
  'at the end of a long body': { method: 'POST', body: `${'x'.repeat(700_000)}${token}` },
  'in chunks': {
    method: 'POST',
    headers: { 'transfer-encoding': 'chunked' },
  },
  'in the other connection’s header': { headers: { 'x-shop-key': token } },
  'of the other connection': { headers: { authorization: `Bearer ${placeholder('SHOP_KEY')}` } },
  'of the other connection in its own header': { headers: { 'x-shop-key': placeholder('SHOP_KEY') } },
  'at the other connection’s host': { name: shop, path: '/a', headers: { authorization: `Bearer ${token}` } },
  'with another host': { host: shop, status: 421 },
  'with a host of the same connection': { host: web, status: 421 },
  'with another port': { host: `${api}:8443`, status: 421 },
  'with an address': { host: '127.0.0.1', status: 421 },
  'with a user in the host': { host: `x@${api}`, status: 421 },
  'with a dot behind the host': { host: `${api}.`, status: 421 },
  'in absolute form': { path: `https://${shop}/repos/a`, status: 400 },
  'in absolute form by http': { path: `http://${api}/repos/a` },
  'a path that is not allowed': { path: '/admin', status: 403 },
  'a method that is not allowed': { method: 'DELETE', status: 403 },
  'TRACE, which echoes': { method: 'TRACE', status: 403 },
  'dot segments': { path: '/repos/../admin', status: 400 },
  'encoded dot segments': { path: '/repos/%2e%2e/admin', status: 400 },
  'a slash encoded outside of the name of a package': { path: '/repos/a%2Fb', status: 400 },
  'a package with dot segments in it': { path: '/repos/@acme%2f..%2f..%2fadmin', status: 400 },
  'a package with a second slash': { path: '/repos/@acme%2fsite%2fadmin', status: 400 },
  'a package that is encoded twice': { path: '/repos/@acme%252fsite', status: 400 },
  'a package outside of what is allowed': { path: '/@acme%2fsite', status: 403 },
  'an empty segment': { path: '/repos//admin', status: 400 },
  'a fragment': { path: '/repos/a#b', status: 400 },
  'a body with GET': { body: 'x', status: 400 },
  'a body that is too long': { method: 'POST', headers: { 'content-length': String(2 ** 21) }, status: 413 },
  'a push elsewhere than to git': {
    method: 'POST',
    path: '/repos/a',
    headers: { 'content-type': 'application/x-git-receive-pack-request', 'content-length': String(2 ** 21) },
    status: 413,
  },
};

test('forty attempts to have the secret elsewhere are refused, and logged without it', async (t) => {
  assert.ok(Object.keys(attempts).length >= 40);
  for (const [title, { status, ...asked }] of Object.entries(attempts)) {
    await t.test(title, async () => {
      const chunked = asked.headers?.['transfer-encoding'] === 'chunked';
      const halves = [token.slice(0, 20), token.slice(20)];
      const answer = chunked
        ? await raw(
            `POST /repos/a HTTP/1.1\r\nhost: ${api}\r\ntransfer-encoding: chunked\r\n\r\n${halves.map((half) => `${half.length.toString(16)}\r\n${half}\r\n`).join('')}0\r\n\r\n`,
          )
        : await ask(asked);
      assert.equal(answer.status, status ?? 400, answer.head);
      assert.equal(services.seen.length, 0);
      assert.ok(!JSON.stringify([answer, world.lines, world.logged]).includes(secret));
      assert.match(world.lines.at(-1)!.entry.message, / was refused\. /);
    });
  }
});

test('requests that a service could read as two are no requests', async () => {
  const lines = `POST /repos/a HTTP/1.1\r\nhost: ${api}\r\n`;
  for (const text of [
    `${lines}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${lines}content-length: 3\r\ncontent-length: 4\r\n\r\nabc`,
    `GET /repos/a HTTP/1.1\r\nhost: ${api}\r\nhost: ${api}\r\n\r\n`,
    `GET /repos/a HTTP/1.1\r\nhost: ${api}\r\nx-key: ${token}\rx: y\r\n\r\n`,
  ])
    assert.match((await raw(text)).head, /^HTTP\/1\.1 4\d\d /, text);
  assert.equal(services.seen.length, 0);
});

test('an answer with the secret is refused whole, and counted', async () => {
  const { status, body } = await ask({ path: '/repos/echo', headers: { authorization: `Bearer ${token}` } });
  assert.equal(status, 502);
  assert.match(body, /credential_echoed/);
  assert.ok(!body.includes(secret));
  assert.deepEqual(
    world.echoed.map(({ connection }) => connection),
    ['code'],
  );
});

test('redirects lead to hosts and paths of the same connection alone', async () => {
  const moved = await ask({ path: '/repos/moved' });
  assert.equal(moved.status, 302);
  assert.match(moved.head, new RegExp(`^location: https://${web}/team/it\r?$`, 'm'));
  for (const path of ['/repos/away', '/repos/forbidden-way']) assert.equal((await ask({ path })).status, 502, path);
  const made = await ask({ method: 'POST', path: '/repos/made', body: '{}' });
  assert.equal(made.status, 201);
  assert.doesNotMatch(made.head, /^location/m);
});

test('a push to git is longer than other bodies, and passes as it comes', async () => {
  const headers = {
    'content-type': 'application/x-git-receive-pack-request',
    authorization: `Basic ${base64(`x:${token}`)}`,
  };
  const path = '/team/it/git-receive-pack';
  const body = 'P'.repeat(8 * 2 ** 20);
  const pushed = await ask({ method: 'POST', name: web, path, headers, body });
  assert.deepEqual([pushed.status, pushed.body], [200, `fine, ${body.length} bytes`]);
  const tooLong = await ask({
    method: 'POST',
    name: web,
    path,
    headers: { ...headers, 'content-length': String(pushBytes + 1) },
  });
  assert.equal(tooLong.status, 413);
});
