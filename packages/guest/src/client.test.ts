/** Tests the client against servers that break the protocol, because a guest is not trusted. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, test } from 'node:test';
import { inspect } from 'node:util';
import {
  claimHeader,
  encodeFrame,
  execFrame,
  dialTo,
  guestClient,
  GuestError,
  newCredential,
  noCredential,
  type Dial,
  type GuestClient,
} from './index.ts';

let servers: { close(): void }[] = [];
let sockets: Socket[] = [];
afterEach(() => {
  for (const server of servers) server.close();
  for (const socket of sockets) socket.destroy();
  servers = [];
  sockets = [];
});

const dial = dialTo('127.0.0.1');

async function listenAt(
  server: ReturnType<typeof createTcpServer> | Server,
): Promise<{ readonly dial: Dial; readonly port: number }> {
  servers.push(server);
  server.on('connection', (socket: Socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { dial, port: (server.address() as AddressInfo).port };
}

async function listen(server: ReturnType<typeof createTcpServer> | Server): Promise<GuestClient> {
  return guestClient({ ...(await listenAt(server)), credential: noCredential });
}

const guestOf = (answer: RequestListener): Promise<GuestClient> =>
  listen(
    createServer((request, response) => {
      response.setHeader('x-guestd-protocol', '1');
      answer(request, response);
    }),
  );

function guestError(status: number | null, message: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof GuestError, String(error));
    assert.equal(error.status, status);
    assert.match(error.message, message);
    return true;
  };
}

test('bounds on a guest’s own work are longer on a slow host, those that the caller named are not', async () => {
  const at = await listenAt(createTcpServer());
  // A smaller pace than any host's, so the test need not wait.
  const slow = guestClient({ ...at, credential: noCredential, pace: 0.02 });
  await assert.rejects(slow.health(), guestError(null, /GET \/v1\/health within 200 ms/));
  await assert.rejects(slow.sync(false), guestError(null, /POST \/v1\/sync within 1200 ms/));
  await assert.rejects(slow.workspace.entry('/'), guestError(null, /within 200 ms/));
  await assert.rejects(slow.exec({ argv: ['x'], timeoutMs: 100 }), guestError(null, /POST \/v1\/exec within 300 ms/));
  await assert.rejects(slow.health({ timeoutMs: 50 }), guestError(null, /within 50 ms/));
});

const old = { protocol: 1, uptimeSeconds: 1, cpusOnline: 1, memoryTotalMib: 1 };
const health = { ...old, memoryAvailableMib: 1, oomKills: 0, diskFreeMib: 1, diskTotalMib: 2 };

test('another protocol version, or none, is an error', async () => {
  const newer = await guestOf((_, response) => response.setHeader('x-guestd-protocol', '2').end('{}'));
  await assert.rejects(newer.health(), guestError(200, /guest protocol 2/));
  const stranger = await listen(createServer((_, response) => void response.end('{}')));
  await assert.rejects(stranger.health(), guestError(200, /no guest protocol/));
});

test('a reply of another shape is an error', async () => {
  for (const body of [
    '',
    'text',
    '[]',
    'null',
    '{"uptimeSeconds":"1"}',
    JSON.stringify({ ...health, cpusOnline: null }),
    JSON.stringify({ ...health, oomKills: '1' }),
  ]) {
    const guest = await guestOf((_, response) => void response.end(body));
    await assert.rejects(guest.health(), guestError(200, /not JSON|another shape/), body);
  }
});

test('the daemon of an older image is understood: what it does not say is null', async () => {
  const guest = await guestOf((_, response) => void response.end(JSON.stringify(old)));
  const unsaid = { memoryAvailableMib: null, oomKills: null, diskFreeMib: null, diskTotalMib: null };
  assert.deepEqual(await guest.health(), { ...old, ...unsaid });
});

test("a reply without end does not fill the host's memory", async () => {
  let written = 0;
  const guest = await guestOf((_, response) => {
    const more = (): void => {
      while (response.write(Buffer.alloc(64 * 1024, ' ')) && written < 1e9) written += 64 * 1024;
      written += 64 * 1024;
    };
    response.on('drain', more);
    more();
  });
  await assert.rejects(guest.health(), guestError(null, /longer than/));
  assert.ok(written < 50e6, `${written} bytes were taken`);
});

test('the reason of a refusal is handed on, cut to a bound', async () => {
  const guest = await guestOf(
    (_, response) => void response.writeHead(409).end(JSON.stringify({ error: 'x'.repeat(9_000) })),
  );
  await assert.rejects(guest.sync(true), guestError(409, /^the guest refused POST \/v1\/sync: x{500}$/));
});

test('a guest that accepts and says nothing is given up at the time limit, and at once when the signal aborts', async () => {
  const silent = await listen(createTcpServer(() => undefined));
  await assert.rejects(silent.health({ timeoutMs: 100 }), guestError(null, /within 100 ms/));
  const stop = new AbortController();
  const waiting = silent.health({ signal: stop.signal });
  stop.abort(new Error('no longer wanted'));
  await assert.rejects(waiting, /no longer wanted/);
  await assert.rejects(silent.health({ signal: stop.signal }), /no longer wanted/);
});

test('a guest that switches to another protocol unasked is an error at once: no time limit would end the wait', async () => {
  const switching = await listen(
    createTcpServer((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 101 Any\r\nConnection: Upgrade\r\nUpgrade: any\r\n\r\n'));
    }),
  );
  await assert.rejects(switching.health(), guestError(null, /closed without a reply/));
  const { signal } = new AbortController();
  await assert.rejects(switching.workspace.read('x', null, { signal }), guestError(null, /closed without a reply/));
});

test('awaiting health is not held up by an attempt that hangs, nor by refusals before', async () => {
  let calls = 0;
  const guest = await guestOf((_, response) => {
    calls += 1;
    if (calls === 1) return; // Lost, so only a later attempt is answered.
    if (calls < 4) response.writeHead(503).end('{}');
    else response.end(JSON.stringify(health));
  });
  const started = performance.now();
  assert.deepEqual(await guest.awaitHealth({ timeoutMs: 120_000 }), health);
  assert.ok(performance.now() - started < 60_000);
});

test('awaiting health ends at its limit with the last reason, and at once when the signal aborts', async () => {
  const guest = await guestOf((_, response) => void response.writeHead(503).end('{"error":"busy"}'));
  const limit = guest.awaitHealth({ timeoutMs: 300 });
  await assert.rejects(limit, (error: GuestError) => /busy/.test((error.cause as Error).message));
  const stop = AbortSignal.timeout(100);
  await assert.rejects(guest.awaitHealth({ timeoutMs: 20_000, signal: stop }), { name: 'TimeoutError' });
});

test('every call has a connection of its own', async () => {
  const guest = await guestOf((_, response) => void response.end(JSON.stringify(health)));
  await guest.health();
  await guest.health();
  assert.equal(sockets.length, 2);
});

const { signal } = new AbortController();
const entry = { type: 'file', size: 5, modifiedMs: 0, mode: 0o644, version: 'v-1' };

test('what a guest says of a file is checked before it becomes a header or a name', async () => {
  for (const [headers, status] of [
    [{}, 200],
    [{ 'x-guestd-entry': 'no json' }, 200],
    [{ 'x-guestd-entry': JSON.stringify({ ...entry, version: 'a"\r\nb' }) }, 200],
    [{ 'x-guestd-entry': JSON.stringify({ ...entry, size: -1 }) }, 200],
    [{ 'x-guestd-entry': JSON.stringify({ ...entry, size: 6 }) }, 200],
    [{ 'x-guestd-entry': JSON.stringify(entry), 'content-range': 'bytes 0-9/5' }, 206],
    [{ 'x-guestd-entry': JSON.stringify(entry), 'content-range': 'evil' }, 206],
  ] as const) {
    const guest = await guestOf((_, response) => {
      response.writeHead(status, { 'content-length': 5, ...headers }).end('hello');
    });
    const reading = guest.workspace.read('x', null, { signal });
    await assert.rejects(reading, guestError(200, /another shape|not JSON/), JSON.stringify(headers));
  }
  for (const name of ['', 'a/b', '../x', 'a\0b']) {
    const list = { entries: [{ ...entry, name, target: null }], more: false };
    const guest = await guestOf((_, response) => void response.end(JSON.stringify(list)));
    await assert.rejects(guest.workspace.list('', { after: '', limit: 1 }), guestError(200, /another shape/), name);
  }
});

test('a file that a guest does not send whole fails where it is read', async () => {
  const guest = await guestOf((_, response) => {
    response.writeHead(200, { 'content-length': 5, 'x-guestd-entry': JSON.stringify(entry) });
    response.write('hel');
    setTimeout(() => response.destroy(), 20);
  });
  const { stream } = await guest.workspace.read('x', null, { signal });
  await assert.rejects(async () => {
    for await (const _ of stream);
  });
});

test('frames of a command that are none, too long or cut off are errors', async () => {
  for (const bytes of [
    Buffer.from([9, 0, 0, 0, 0]),
    Buffer.from([0, 255, 255, 255, 255]),
    encodeFrame(execFrame.stdout, ''),
    encodeFrame(execFrame.exit, '{}'),
    encodeFrame(execFrame.exit, `{"a":[${'[],'.repeat(10_000)}1]}`),
    encodeFrame(execFrame.stdout, 'no end').subarray(0, 8),
    Buffer.alloc(0),
  ]) {
    const guest = await guestOf((_, response) => void response.end(bytes));
    const events = await guest.execStream({ argv: ['x'], timeoutMs: 1_000 }, { signal });
    await assert.rejects(async () => {
      for await (const _ of events);
    }, GuestError);
  }
});

test('a command’s output is bounded here too, and collected where it is within', async () => {
  const frames = [encodeFrame(execFrame.stdout, 'é'), encodeFrame(execFrame.stderr, 'err')];
  const accent = Buffer.from('é');
  frames.push(encodeFrame(execFrame.stdout, accent.subarray(0, 1)), encodeFrame(execFrame.stdout, accent.subarray(1)));
  const outcome = { exitCode: 0, signal: null, timedOut: false, truncated: false };
  frames.push(encodeFrame(execFrame.exit, JSON.stringify(outcome)));
  const guest = await guestOf((_, response) => void response.end(Buffer.concat(frames)));
  const request = { argv: ['x'], timeoutMs: 1_000 };
  assert.deepEqual(await guest.execCollected({ ...request, maxOutputBytes: 4 }, { signal }), {
    ...outcome,
    stdout: 'éé',
    stderr: 'err',
  });
  await assert.rejects(
    guest.execCollected({ ...request, maxOutputBytes: 3 }, { signal }),
    guestError(200, /another shape/),
  );
});

test('no reply holds up this thread, however it is made', async () => {
  const many = `{"entries":[${'[],'.repeat(340_000)}1],"more":false,"error":"x"}`;
  const keys = JSON.stringify({ entries: Array.from({ length: 50_000 }, (_, i) => ({ [`k${i}`]: 1 })), text: '' });
  const long = JSON.stringify({ text: 'x'.repeat(600_000), nextOffset: 1 });
  const calls = [
    (guest: GuestClient) => guest.workspace.list('', { after: '', limit: 1_000 }),
    (guest: GuestClient) => guest.exec({ argv: ['x'], timeoutMs: 1_000 }),
    (guest: GuestClient) => guest.logs('runtime', 0, 128 * 1024),
    (guest: GuestClient) => guest.health(),
  ];
  for (const status of [200, 409])
    for (const body of [many, keys, long])
      for (const call of calls) {
        const guest = await guestOf((_, response) => void response.writeHead(status).end(body));
        const before = process.cpuUsage();
        await assert.rejects(call(guest), GuestError);
        // It takes a few milliseconds. Parsing them all as JSON takes half a second each.
        assert.ok(process.cpuUsage(before).user < 250_000, body.slice(0, 20));
      }
});

test('a folder whose names are too long for one reply is listed in smaller pages', async () => {
  const asked: number[] = [];
  const name = (index: number): string => String(index).padStart(4_000, 'n');
  const entry = { type: 'file', size: 1, modifiedMs: 1, mode: 420, version: 'v', target: null };
  const guest = await guestOf((request, response) => {
    const limit = Number(new URL(request.url!, 'http://x').searchParams.get('limit'));
    asked.push(limit);
    const entries = Array.from({ length: limit }, (_, index) => ({ ...entry, name: name(index) }));
    response.end(JSON.stringify({ entries, more: true }));
  });
  const { entries, more } = await guest.workspace.list('', { after: '', limit: 1_000 });
  assert.deepEqual([entries.length, more, asked], [125, true, [1_000, 125]]);
});

test('a guest that does not upgrade to a terminal, or sends nonsense there, ends it', async () => {
  const size = { columns: 80, rows: 24, term: 'xterm' };
  const ends: unknown[] = [];
  const handlers = { data: () => true, drained: () => undefined, closed: (end: unknown) => void ends.push(end) };
  const plain = await guestOf((_, response) => void response.end('{}'));
  await assert.rejects(plain.openTerminal(size, handlers), guestError(null, /did not upgrade/));
  const full = await guestOf((_, response) => void response.writeHead(503).end('{"error":"too many"}'));
  await assert.rejects(full.openTerminal(size, handlers), guestError(503, /too many/));
  const silent = await listen(createTcpServer(() => undefined));
  await assert.rejects(silent.openTerminal(size, handlers, { timeoutMs: 100 }), guestError(null, /terminal/));
  for (const protocol of ['', 'x-guestd-protocol: 2\r\n', 'x-guestd-protocol: 1\r\n']) {
    const odd = await listen(
      createTcpServer((socket) => {
        const head = `HTTP/1.1 101 OK\r\nconnection: upgrade\r\nupgrade: lodge-terminal\r\n${protocol}\r\n`;
        socket.write(Buffer.concat([Buffer.from(head), Buffer.from([7, 0, 0, 0, 0])]));
      }),
    );
    if (!protocol.includes('1')) await assert.rejects(odd.openTerminal(size, handlers), guestError(null, /protocol/));
    else await odd.openTerminal(size, handlers);
  }
  while (ends.length === 0) await new Promise(setImmediate);
  assert.deepEqual(ends, [null]);
});

test('every call carries the credential that the guest knows the host by at that moment', async () => {
  const heard: (string | undefined)[] = [];
  const served = createServer((request, response) => {
    heard.push(request.headers.authorization);
    request.resume();
    response.setHeader('x-guestd-protocol', '1');
    response.end('{}');
  });
  served.on('upgrade', (request, socket) => {
    heard.push(request.headers.authorization);
    socket.end(
      'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: lodge-terminal\r\nx-guestd-protocol: 1\r\n\r\n',
    );
  });
  const at = await listenAt(served);
  let credential: string | null = null;
  const guest = guestClient({ ...at, credential: async () => credential });
  await guest.sync(false);
  credential = 'first';
  await guest.sync(false);
  credential = 'second';
  const { signal } = new AbortController();
  await guest.readFile('/file');
  await guest.writeTree(['/folder'], Readable.from(['tar']), { signal });
  const terminal = { columns: 80, rows: 24, term: 'xterm' };
  (await guest.openTerminal(terminal, { data: () => true, drained() {}, closed() {} })).close();
  assert.deepEqual(heard, [undefined, 'Bearer first', 'Bearer second', 'Bearer second', 'Bearer second']);
});

test('a claim goes with the first call there is, and with no call of its own', async () => {
  const heard: unknown[] = [];
  const served = createServer((request, response) => {
    const { authorization } = request.headers;
    heard.push([request.method, request.url, authorization, request.headers[claimHeader]]);
    request.resume();
    response.setHeader('x-guestd-protocol', '1');
    response.end('{}');
  });
  const at = await listenAt(served);
  const guest = guestClient({ ...at, credential: async () => 'earlier' });
  await guest.awaitClock({ timeoutMs: 10_000, claim: 'later' });
  // A slow first answer makes the client repeat the call.
  assert.deepEqual(heard[0], ['POST', '/v1/clock', 'Bearer earlier', 'later']);
  assert.deepEqual(new Set(heard.map(String)).size, 1);
  await guest.health().catch(() => undefined);
  assert.deepEqual(heard.at(-1), ['GET', '/v1/health', 'Bearer earlier', undefined]);
});

test('an error names no credential, however the call fails', async () => {
  const secret = newCredential();
  const refusing = await listenAt(
    createServer((_, response) => {
      response.writeHead(401, { 'x-guestd-protocol': '1' }).end('{"error":"no"}');
    }),
  );
  for (const at of [refusing, { dial, port: 1 }]) {
    const guest = guestClient({ ...at, credential: async () => secret });
    for (const call of [guest.health(), guest.setClock({ claim: secret }), guest.readFile('/file')]) {
      await assert.rejects(call, (error: unknown) => {
        assert.ok(!inspect(error, { depth: 10, showHidden: true }).includes(secret));
        return error instanceof GuestError;
      });
    }
    assert.ok(!inspect(guest, { depth: 10 }).includes(secret));
    assert.ok(!JSON.stringify(guest).includes(secret));
  }
});
