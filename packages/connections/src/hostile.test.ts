/**
 * Attacks by the owner of an agent's machine, of a name server or of the service itself; each attempt is a test of its own.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { startStubDns } from '@lodge/testkit/dns';
import type { StubDns } from '@lodge/testkit/dns';
import { startHostileServer } from './testing/hostile-server.ts';
import type { HostileServer } from './testing/hostile-server.ts';
import { known, other, startWorld, stranger } from './testing/world.ts';
import type { TestWorld } from './testing/world.ts';

const token = 'mark-7Qx9/Zt+4&Lw=2Rk<8Vb';
let world: TestWorld;
let server: HostileServer;

before(async () => {
  server = await startHostileServer(token);
  world = await startWorld({ callBounds: { headMs: 2_000 } });
  const headers = { Authorization: `Bearer ${token}` };
  world.put(known, { name: 'notes', url: server.url, headers });
  world.put(known, { name: 'off', url: server.url, headers, enabled: false });
  world.put(known, { name: 'tools', url: server.url, headers, kind: 'mcp' });
  world.put(other, { name: 'theirs', url: server.url, headers });
});
after(async () => {
  await world?.close();
  await server?.close();
});

/** Whether a text contains the token in any form that anybody could read. */
function holdsToken(text: string): boolean {
  const bytes = Buffer.from(text, 'latin1');
  const ways = [
    token.slice(0, 16),
    token.slice(-16),
    Buffer.from(token).toString('hex').slice(0, 24),
    Buffer.from(token).toString('base64').slice(0, 20),
    Buffer.from(`user:${token}`).toString('base64').slice(8, 28),
    Buffer.from(`xx${token}`).toString('base64url').slice(4, 24),
    encodeURIComponent(token).slice(0, 20),
  ];
  return ways.some((way) => bytes.includes(way) || bytes.includes(Buffer.from(way, 'utf16le')));
}

const request = (method: string, path: string, more = ''): string =>
  `${method} ${path} HTTP/1.1\r\nhost: 10.0.2.2:4000\r\nconnection: close\r\n${more}\r\n`;
const n = '/connections/notes';

interface Attempt {
  readonly name: string;
  readonly request: string;
  readonly from?: string;
  readonly status: number;
}
const at = (name: string, path: string, status: number, method = 'GET', more = ''): Attempt => ({
  name,
  request: request(method, path, more),
  status,
});

const refused: readonly Attempt[] = [
  at('another path', `${n}/forbidden`, 403),
  at('the parent by dots', `${n}/allowed/../forbidden`, 400),
  at('the parent by encoded dots', `${n}/allowed/%2e%2e/forbidden`, 400),
  at('the parent by half encoded dots', `${n}/allowed/.%2e/forbidden`, 400),
  at('the parent by dots that are encoded twice', `${n}/allowed/%252e%252e/forbidden`, 400),
  at('the parent by a backslash', `${n}/allowed/..\\forbidden`, 400),
  at('the parent by an encoded slash', `${n}/allowed/..%2fforbidden`, 400),
  at('the parent by an encoded backslash', `${n}/allowed/..%5Cforbidden`, 400),
  at('the parent behind a parameter', `${n}/allowed/..;/forbidden`, 400),
  at('a path behind an empty segment', `${n}//forbidden`, 400),
  at('a path that ends at a NUL', `${n}/allowed/ok%00/../forbidden`, 400),
  at('a path with a line break', `${n}/allowed/a%0d%0aX-Evil:%201`, 400),
  at('a wide slash', `${n}/allowed%EF%BC%8F..%EF%BC%8Fforbidden`, 400),
  at('an overlong slash', `${n}/allowed/..%C0%AFforbidden`, 400),
  at('the allowed path in capitals', `${n}/ALLOWED/ok`, 403),
  at('the allowed path without what is below', `${n}/allowed`, 403),
  at('another host in the path', `${n}/@evil.example.com/`, 403),
  at('another host in a whole address', `${n}/http://evil.example.com/allowed/`, 400),
  at('another host by a fragment', `${n}/allowed/ok#@evil.example.com`, 400),
  at('a query that ends the request', `${n}/allowed/ok?a=\u00e4`, 400),
  at('a method that is not allowed', `${n}/allowed/ok`, 403, 'DELETE'),
  at('a method that echoes', `${n}/allowed/echo-headers`, 403, 'TRACE'),
  at('a method of another spelling', `${n}/allowed/ok`, 403, 'PROPFIND'),
  at('a body where none belongs', `${n}/allowed/ok`, 400, 'GET', 'content-length: 5\r\n'),
  at("another agent's connection", '/connections/theirs/allowed/ok', 404),
  at('a connection that is disabled', '/connections/off/allowed/ok', 404),
  at('a connection that there is not', '/connections/nothing/allowed/ok', 404),
  at('a name of the language', '/connections/__proto__/allowed/ok', 404),
  at('a name with dots', '/connections/../connections/notes/allowed/ok', 404),
  at('an encoded name', '/connections/%6eotes/allowed/ok', 404),
  at('a server of tools as a service', '/connections/tools/allowed/ok', 403),
  at('the list by another method', '/connections', 405, 'POST', 'content-length: 0\r\n'),
  { ...at('no agent at all', `${n}/allowed/ok`, 403), from: stranger },
];

describe('what is refused reaches no server', () => {
  for (const { name, request: bytes, from = known, status } of refused) {
    test(name, async () => {
      const before = server.requests.length;
      const answer = await world.raw(from, bytes);
      assert.equal(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]), status, answer);
      assert.equal(server.requests.length, before);
      assert.ok(!holdsToken(answer), answer);
    });
  }
});

describe('what a service says of the credential does not reach the guest', () => {
  for (const how of [
    'echo-headers',
    'echo-base64',
    'echo-base64url',
    'echo-percent',
    'echo-hex',
    'echo-html',
    'echo-json',
    'echo-utf16',
    'echo-header',
    'echo-header-base64',
    'echo-error',
    'echo-bytes',
  ]) {
    test(`${how}: the answer is refused whole, and counted`, async () => {
      const before = world.echoed.length;
      const answer = await world.raw(known, request('GET', `${n}/allowed/${how}`));
      assert.match(answer, /^HTTP\/1\.1 502 [^]*"code":"credential_echoed"/);
      assert.ok(!holdsToken(answer), answer);
      assert.equal(world.echoed.length, before + 1);
      assert.match(world.lines.at(-1)!.entry.message, /was refused\. The server's answer held the credential/);
    });
  }

  for (const how of ['echo-header-name', 'echo-reason', 'echo-cookie', 'echo-location', 'echo-trailer']) {
    test(`${how}: it is where nothing is passed on`, async () => {
      const answer = await world.raw(known, request('GET', `${n}/allowed/${how}`));
      assert.match(answer, /^HTTP\/1\.1 (?:200|201) /);
      assert.ok(!holdsToken(answer), answer);
    });
  }

  test('echo-gzip: what is packed is refused', async () => {
    const answer = await world.raw(known, request('GET', `${n}/allowed/echo-gzip`, 'accept-encoding: gzip\r\n'));
    assert.match(answer, /^HTTP\/1\.1 502 /);
  });

  test('echo-range: no piece of it is asked for', async () => {
    let received = '';
    for (let from = 0; from < token.length; from += 4) {
      const answer = await world.raw(
        known,
        request('GET', `${n}/allowed/echo-range`, `range: bytes=${from}-${from + 3}\r\n`),
      );
      received += answer.slice(answer.indexOf('\r\n\r\n') + 4);
    }
    assert.ok(!holdsToken(received), received);
  });

  test('the credential as a header that the guest names', async () => {
    const more = 'connection: authorization\r\nauthorization: mine\r\nAuthorization: mine too\r\n';
    await world.raw(known, request('GET', `${n}/allowed/ok`, more));
    assert.equal(server.requests.at(-1)!.headers.authorization, `Bearer ${token}`);
  });
});

describe('a redirect leads nowhere else', () => {
  for (const how of [
    'to-other-host',
    'to-other-port',
    'to-metadata',
    'to-forbidden',
    'to-outside',
    'to-dots',
    'to-user',
    'to-itself',
  ]) {
    test(how, async () => {
      const before = server.requests.length;
      const answer = await world.raw(known, request('GET', `${n}/allowed/${how}`));
      assert.match(answer, /^HTTP\/1\.1 502 /);
      assert.ok(server.requests.length - before <= (how === 'to-itself' ? 4 : 1));
      assert.doesNotMatch(answer, /169\.254|127\.0\.0\.77/);
    });
  }

  test('of a POST, which is not sent twice', async () => {
    const before = server.requests.length;
    const answer = await world.raw(known, request('POST', `${n}/allowed/to-ok`, 'content-length: 0\r\n'));
    assert.match(answer, /^HTTP\/1\.1 502 /);
    assert.equal(server.requests.length, before + 1);
  });
});

describe('no name and no address leads into the host', () => {
  let inside: Server;
  let dns: StubDns;
  let guarded: TestWorld;
  let reached = 0;
  before(async () => {
    inside = createServer((socket) => {
      reached += 1;
      socket.destroy();
    });
    inside.listen(0, '127.0.0.1');
    await new Promise((resolve) => inside.once('listening', resolve));
    dns = await startStubDns({
      'inside.test': () => ['127.0.0.1'],
      'metadata.test': () => ['169.254.169.254'],
      'mapped.test': () => ['::ffff:127.0.0.1'],
      'rebinds.test': (asked) => (asked === 0 ? ['192.88.98.1'] : ['127.0.0.1']),
      'silent.test': () => null,
    });
    guarded = await startWorld({
      addresses: 'public',
      nameServers: [dns.server],
      callBounds: { connectMs: 300, headMs: 1_000 },
    });
  });
  after(async () => {
    await guarded?.close();
    await dns?.close();
    inside?.close();
  });

  const ask = async (host: string, protocol = 'https'): Promise<string> => {
    guarded.put(known, {
      name: 'inside',
      url: `${protocol}://${host}:${(inside.address() as AddressInfo).port}/v1`,
      headers: { Authorization: `Bearer ${token}` },
    });
    const answer = await guarded.raw(known, request('GET', '/connections/inside/allowed/ok'));
    return /^HTTP\/1\.1 (?:502|504) [^]*"code":"([a-z_]+)"/.exec(answer)?.[1] ?? answer;
  };

  for (const host of [
    '127.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '10.0.2.2',
    '169.254.169.254',
    '0x7f.1',
    '2130706433',
    'inside.test',
    'metadata.test',
    'mapped.test',
  ]) {
    test(host, async () => assert.equal(await ask(host), 'address_refused'));
  }

  test('a name that is public first and private then', async () => {
    assert.match(await ask('rebinds.test'), /^upstream_/);
    assert.equal(await ask('rebinds.test'), 'address_refused');
  });

  test('a name whose server never answers', async () => {
    assert.match(await ask('silent.test'), /^upstream_/);
  });

  test('without TLS', async () => assert.equal(await ask('inside.test', 'http'), 'address_refused'));

  test('nothing inside was reached', () => assert.equal(reached, 0));
});

test('the credential is in no log and no line of an agent', () => {
  const all = JSON.stringify([world.lines, world.logged, world.broker.logged]);
  assert.ok(world.lines.length > 40);
  assert.ok(!holdsToken(all));
});
