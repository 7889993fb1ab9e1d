/** The agent's browser with the Chromium of this host in place of the machine's disk. */
import assert from 'node:assert/strict';
import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Daemon, refusedWith, until } from '../testing.ts';

const chromium = process.env['LODGE_TEST_CHROMIUM'] ?? '/usr/bin/chromium';
const idleMs = 3_000;
let site: Server;
let siteUrl: string;

before(async () => {
  site = createServer((request, response) => {
    const type = request.url === '/file.csv' ? 'text/csv' : 'text/html';
    response.setHeader('content-type', type);
    if (type === 'text/csv') response.setHeader('content-disposition', 'attachment; filename=file.csv');
    response.end('<title>Plums</title><body>plums');
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});
after(() => site.close());

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** A daemon whose browser is this shell script. */
class Browsing {
  readonly daemon = new Daemon();
  doorPort = 0;
  private options: string[] = [];

  async start(script: string | null): Promise<void> {
    const { daemon } = this;
    await daemon.prepare();
    this.doorPort = await freePort();
    const uid = process.getuid?.() === 0 ? 1001 : process.getuid?.();
    const own = { port: this.doorPort, 'idle-ms': idleMs, uid };
    this.options = Object.entries(own).flatMap(([name, value]) => [`--browser-${name}`, String(value)]);
    if (script !== null) {
      const program = join(daemon.root, 'browser');
      writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      this.options.push('--browser-program', program);
    }
    await this.again();
  }

  async again(): Promise<void> {
    await this.daemon.kill();
    await this.daemon.start('127.0.0.1', this.options);
  }

  get browser() {
    return this.daemon.client.browser;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.doorPort}${path}`, { headers });
  }

  async is(status: string): Promise<void> {
    const deadline = Date.now() + 60_000;
    for (;;) {
      const state = await this.browser.state();
      if (state.status === status) return;
      assert.ok(Date.now() < deadline, JSON.stringify(state));
      await sleep(50);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser.put(false).catch(() => undefined);
    await this.daemon.remove();
  }
}

/** Chromium as a user of its own. Its own sandbox does not work everywhere where tests run. */
const asOwnUser = process.getuid?.() === 0 ? 'setpriv --reuid 1001 --regid 1001 --clear-groups ' : '';
const realBrowser = `HOME=/tmp exec ${asOwnUser}${chromium} --no-sandbox "$@"`;

/** A program of the agent, which speaks Chromium's protocol. */
class Program {
  private readonly socket: WebSocket;
  private readonly waiting = new Map<number, (result: Json) => void>();
  private lastId = 0;

  private constructor(url: string) {
    this.socket = new WebSocket(url);
    this.socket.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(String(data)) as { id?: number; result: Json };
      if (id !== undefined) this.waiting.get(id)?.(result);
    });
  }

  static async connect({ doorPort }: Browsing): Promise<Program> {
    const reply = await fetch(`http://127.0.0.1:${doorPort}/json/version`);
    const program = new Program(((await reply.json()) as Json)['webSocketDebuggerUrl'] as string);
    await once(program.socket, 'open');
    return program;
  }

  call(method: string, params: object = {}, sessionId?: string): Promise<Json> {
    const id = (this.lastId += 1);
    const { promise, resolve } = Promise.withResolvers<Json>();
    this.waiting.set(id, resolve);
    this.socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }));
    return promise;
  }

  /** Opens the site, and returns the page's session once it is there. The empty page before it is complete, too. */
  async openSite(): Promise<string> {
    const { targetId } = await this.call('Target.createTarget', { url: siteUrl });
    const { sessionId } = await this.call('Target.attachToTarget', { targetId, flatten: true });
    const page = sessionId as string;
    await until(
      async () => (await this.evaluate(page, '`${document.readyState} ${document.title}`')) === 'complete Plums',
    );
    return page;
  }

  async evaluate(session: string, expression: string): Promise<unknown> {
    const params = { expression, awaitPromise: true, returnByValue: true };
    const { result } = await this.call('Runtime.evaluate', params, session);
    return (result as Json)['value'];
  }

  async closed(): Promise<{ readonly code: number; readonly reason: string }> {
    const [event] = (await once(this.socket, 'close')) as [CloseEvent];
    return event;
  }
}
type Json = Record<string, unknown>;

test('the first use starts it, its pages and its profile stay, and it ends when nobody uses it', async () => {
  await using browsing = new Browsing();
  await browsing.start(realBrowser);
  const { browser } = browsing;
  assert.deepEqual(await browser.state(), { status: 'off', message: null, heldForSeconds: null });
  await assert.rejects(browsing.get('/json/version'), TypeError);
  await assert.rejects(browser.openCdp({ start: true }), refusedWith(409, /wants no browser/));

  assert.deepEqual(await browser.put(true), { available: true });
  assert.equal((await browsing.get('/json/version')).status, 200);
  assert.deepEqual(await (await browsing.get('/json/list')).json(), []);
  assert.equal((await browser.state()).status, 'idle', 'a look is no use');
  await assert.rejects(browser.hold(30), refusedWith(409, /no browser runs/));

  assert.equal((await browsing.get('/start')).status, 200);
  assert.equal((await browser.state()).status, 'running');
  const program = await Program.connect(browsing);
  const page = await program.openSite();
  assert.equal(await program.evaluate(page, 'localStorage.plums = "seven"; document.title'), 'Plums');
  assert.equal((await browser.state()).status, 'running');

  // The host finds the same page, by Chromium's own port.
  const socket = await browser.openCdp({ start: false });
  socket.write('GET /json/list HTTP/1.1\r\nhost: 127.0.0.1:9222\r\n\r\n');
  let listed = '';
  socket.on('data', (part: Buffer) => (listed += String(part)));
  await until(() => listed.includes('Plums'));

  await browser.hold(30);
  const waiting = program.evaluate(page, '1 + 1');
  assert.equal(await Promise.race([waiting, sleep(500).then(() => 'waits')]), 'waits');
  const { heldForSeconds } = await browser.state();
  assert.ok(heldForSeconds! > 20 && heldForSeconds! <= 30);
  await sleep(idleMs + 1_500);
  assert.equal((await browser.state()).status, 'running', 'a hold keeps it');
  await browser.hold(0);
  assert.equal(await waiting, 2);
  assert.equal((await browser.state()).heldForSeconds, null);
  await browser.hold(1);
  assert.equal(await program.evaluate(page, '2 + 2'), 4, 'a hold ends by itself');

  const closed = program.closed();
  await browsing.is('idle');
  await closed;
  socket.destroy();
  const again = await Program.connect(browsing);
  const other = await again.openSite();
  assert.equal(await again.evaluate(other, 'localStorage.plums'), 'seven', 'the profile is the same');

  // A daemon that was killed ends the browser that it had started, and offers one as before.
  await browsing.again();
  await browsing.is('idle');
  assert.equal((await browsing.get('/json/version')).status, 200);
});

/** Asks under another name, as a page does whose name was made to lead here. */
async function ask(port: number, host: string): Promise<{ readonly status: number | undefined }> {
  const request = get({ port, host: '127.0.0.1', path: '/json/version', headers: { host } });
  const [reply] = (await once(request, 'response')) as [IncomingMessage];
  reply.resume();
  return { status: reply.statusCode };
}

test('pages and other names find no door', async () => {
  await using browsing = new Browsing();
  await browsing.start('exit 1');
  await browsing.browser.put(true);
  for (const headers of [{ origin: siteUrl }, { 'sec-fetch-site': 'cross-site' }]) {
    assert.equal((await browsing.get('/json/version', headers)).status, 403);
  }
  const { status } = await ask(browsing.doorPort, 'plums.example');
  assert.equal(status, 403);
});

test('one that ends at once is not started for ever, and its log says why', async () => {
  await using browsing = new Browsing();
  await browsing.start('echo "no plums today" >&2; exit 7');
  const { browser, daemon } = browsing;
  await browser.put(true);
  const refused = async (): Promise<string> => {
    const { code, reason } = await (await Program.connect(browsing)).closed();
    assert.equal(code, 1011);
    return reason;
  };
  assert.match(await refused(), /ended with status 7: no plums today/);
  assert.match(await refused(), /next start in 1 s/);
  for (const pauseMs of [1_100, 4_100]) {
    await sleep(pauseMs);
    assert.match(await refused(), /ended with status 7/);
  }
  const { status, message } = await browser.state();
  assert.equal(status, 'failed');
  assert.match(message!, /no plums today/);
  const started = await browsing.get('/start');
  assert.deepEqual([started.status, /no plums today/.test(await started.text())], [503, true]);
  assert.equal((await daemon.client.logs('runtime', 0, 10_000)).text.match(/no plums today/g)!.length, 3);
});

test('without a file system on the disk there is none, and with one there is', async () => {
  await using browsing = new Browsing();
  await browsing.start(null);
  const { browser, daemon } = browsing;
  assert.deepEqual(await browser.put(true), { available: false });
  for (const folder of ['sys/block/vda', 'sys/block/vdb', 'dev'])
    mkdirSync(join(daemon.root, folder), { recursive: true });
  writeFileSync(join(daemon.root, 'sys/block/vda/serial'), 'root\n');
  writeFileSync(join(daemon.root, 'sys/block/vdb/serial'), 'lodge-browser\n');
  writeFileSync(join(daemon.root, 'dev/vdb'), Buffer.alloc(4096));
  const { status, message } = await browser.state();
  assert.equal(status, 'unavailable');
  assert.match(message!, /not on the disk/);
  await assert.rejects(browser.openCdp({ start: true }), refusedWith(409, /not on the disk/));
  const disk = Buffer.alloc(4096);
  disk.writeUInt16LE(0xef53, 1080);
  writeFileSync(join(daemon.root, 'dev/vdb'), disk);
  assert.deepEqual(await browser.put(true), { available: true });
  assert.equal((await browser.state()).status, 'idle');
});

test('a link in the place of the downloads is refused', async () => {
  await using browsing = new Browsing();
  await browsing.start(realBrowser);
  const { browser, daemon } = browsing;
  symlinkSync('/etc', join(daemon.root, 'workspace/downloads'));
  const { mode } = statSync('/etc');
  await browser.put(true);
  await assert.rejects(browser.openCdp({ start: true }), refusedWith(409, /downloads is not a folder/));
  assert.equal(statSync('/etc').mode, mode);
});
