/** The view of an agent's browser at its own address: who opens it, and what of each side reaches the other. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, beforeEach, test } from 'node:test';
import type { RawData, WebSocket } from 'ws';
import { FalseChromium, pictureOf, plainJpeg } from '../../apps/server/src/http/browser/testing/false-chromium.ts';
import { Visitor } from './agent-addresses.ts';
import { openWorld } from './api/world.ts';
import type { World } from './api/world.ts';
import { BrowserGuest } from './browser-guest.ts';
import { Client } from './contract/states.ts';

const guest = new BrowserGuest();
const chromium = new FalseChromium();
const tab = { id: 'A'.repeat(32), type: 'page', title: 'Sign in', url: 'https://example.com/' };
let world: World;
let owner: Client;
let visitor: Visitor;
let id: string;
let host: string;
let cookie: string;

before(async () => {
  guest.cdpPort = await chromium.listen();
  world = await openWorld({ guestPort: await guest.listen() });
  owner = new Client(world);
  visitor = new Visitor(world);
  id = await owner.agent('running', { name: 'a <b>&', size: 'medium', browser: true });
  const made = await owner.call('POST', `/agents/${id}/links`, { page: 'browser' });
  assert.equal(made.status, 201, made.text);
  host = `browser-openclaw-${id}.agents.localhost`;
  assert.equal(new URL(made.body.url).hostname, host);
  const opened = await visitor.openLink(made.body.url);
  assert.equal(opened.status, 303);
  cookie = opened.cookie!;
});
after(async () => {
  await world?.close();
  guest.close();
  chromium.close();
});
beforeEach(() => {
  Object.assign(guest, { status: 'running', message: null });
  chromium.answer = (_, response) => response.end(JSON.stringify([tab]));
  chromium.onTab = () => undefined;
  chromium.heard.length = 0;
});

/** One open view, and all that it was told. */
class View {
  readonly socket: WebSocket;
  readonly told: { type: string; [field: string]: unknown }[] = [];
  readonly pictures: Buffer[] = [];

  constructor() {
    const headers = { cookie, origin: `http://${host}` };
    this.socket = visitor.socketTo(host, headers, '/socket');
    this.socket.on('message', (data: RawData, isBinary: boolean) => {
      if (isBinary) this.pictures.push(data as Buffer);
      else this.told.push(JSON.parse((data as Buffer).toString()));
    });
  }

  static async open(): Promise<View> {
    const view = new View();
    await once(view.socket, 'open');
    return view;
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  get state() {
    return this.told.findLast(({ type }) => type === 'state');
  }

  async close(): Promise<void> {
    this.socket.close();
    await once(this.socket, 'close');
  }
}

async function until(holds: () => boolean): Promise<void> {
  for (const began = Date.now(); !holds();) {
    assert.ok(Date.now() - began < 10_000, 'it does not become so');
    await sleep(10);
  }
}
const heard = (method: string) => chromium.heard.filter((command) => command.method === method);
const isTold = (view: View) => until(() => view.state?.['status'] === 'running');

test('its page is ours, loads nothing of others, and needs the cookie of a link to this page', async () => {
  const headers = { cookie };
  const page = await visitor.ask(host, '/?x', { key: null, headers });
  assert.equal(page.status, 200, page.text);
  assert.match(page.text, /<bdi>a &lt;b&gt;&amp;<\/bdi>/);
  const policy = String(page.headers['content-security-policy']);
  assert.match(
    policy,
    /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'/,
  );
  for (const file of ['/view.js', '/view.css'])
    assert.equal((await visitor.ask(host, file, { key: null, headers })).status, 200, file);
  for (const path of ['/etc/passwd', '/view.ts', '/..%2fview.js', '/constructor'])
    assert.equal((await visitor.ask(host, path, { key: null, headers })).json.error.code, 'route_not_found', path);
  assert.equal((await visitor.ask(host, '/', { key: null })).status, 401);
  const gateway = host.replace('browser-', '');
  assert.equal((await visitor.ask(gateway, '/', { key: null, headers })).status, 401, 'it is of this page alone');
  for (const origin of ['http://evil.example', `http://${gateway}`])
    assert.equal(await visitor.handshake(host, { cookie, origin }, '/socket'), 403);
  assert.equal(await visitor.handshake(host, { cookie, origin: `http://${host}` }, '/other'), 404);
});

test('an agent without a browser has no view', async () => {
  const plain = await owner.agent('running', { size: 'medium' });
  const refused = await owner.call('POST', `/agents/${plain}/links`, { page: 'browser' });
  assert.deepEqual([refused.status, refused.body.error.message], [400, 'page: this agent has no browser.']);
  const at = `browser-openclaw-${plain}.agents.localhost`;
  assert.equal((await visitor.ask(at, '/')).json.error.code, 'route_not_found');
  const hermes = host.replace('openclaw', 'hermes');
  assert.equal((await visitor.ask(hermes, '/')).json.error.code, 'agent_not_found');
});

test('pictures come one at a time, as fast as they are drawn', async () => {
  let sent = 0;
  chromium.onTab = (socket) => {
    for (; sent < 4; sent += 1) socket.send(pictureOf(plainJpeg, 1, 700 + sent));
  };
  const view = await View.open();
  await until(() => view.pictures.length === 1);
  await sleep(50);
  assert.equal(view.pictures.length, 1);
  assert.deepEqual([view.pictures[0]!.readUInt16BE(0), view.pictures[0]!.readUInt16BE(2)], [700, 437]);
  assert.deepEqual(view.pictures[0]!.subarray(4), plainJpeg);
  assert.equal(heard('Page.screencastFrameAck').length, 0);
  view.send({ type: 'drawn' });
  await until(() => view.pictures.length === 2);
  assert.equal(view.pictures[1]!.readUInt16BE(0), 703, 'the newest');
  await until(() => heard('Page.screencastFrameAck').length === 4);
  await isTold(view);
  assert.deepEqual(view.state!['tabs'], [{ id: tab.id, title: tab.title, url: tab.url }]);
  await view.close();
});

test('input counts while the control is held, and no longer', async () => {
  const view = await View.open();
  await isTold(view);
  const click = {
    type: 'mouse',
    kind: 'mousePressed',
    x: 5,
    y: 6,
    button: 'left',
    buttons: 1,
    clicks: 1,
    modifiers: 0,
  };
  const inputs = [
    click,
    { type: 'wheel', x: 1, y: 2, dx: 0, dy: 40, modifiers: 0 },
    { type: 'key', kind: 'keyDown', key: 'a', code: 'KeyA', text: 'a', keyCode: 65, modifiers: 0 },
    { type: 'text', text: 'plum' },
    { type: 'go', url: 'example.com/login' },
    { type: 'go', url: 'file:///etc/passwd' },
    { type: 'go', url: 'javascript:alert(1)' },
    { type: 'go', url: 'chrome://settings' },
    { type: 'act', what: 'reload' },
  ];
  for (const input of inputs) view.send(input);
  await sleep(200);
  const commands = () =>
    chromium.heard
      .filter(({ method }) => /^(Input\.|Page\.(navigate|reload))/.test(method))
      .map(({ method }) => method);
  assert.deepEqual(commands(), []);
  view.send({ type: 'take', seconds: 60 });
  await until(() => view.state?.['heldForSeconds'] !== null);
  assert.ok(guest.isHeld);
  assert.equal((await owner.call('GET', `/agents/${id}/browser`)).body.controlled_by, 'owner');
  for (const input of inputs) view.send(input);
  const wanted = ['Input.dispatchMouseEvent', 'Input.dispatchMouseEvent', 'Input.dispatchKeyEvent', 'Input.insertText'];
  await until(() => commands().length >= 6);
  await sleep(100);
  assert.deepEqual(commands(), [...wanted, 'Page.navigate', 'Page.reload']);
  assert.deepEqual(heard('Page.navigate')[0]!.params, { url: 'https://example.com/login' });
  await sleep(1_000);
  view.send({ type: 'release' });
  await until(() => view.state?.['heldForSeconds'] === null);
  view.send(click);
  await sleep(100);
  assert.equal(commands().length, 6);
  await view.close();
  const { data } = (await owner.call('GET', `/events?agent_id=${id}`)).body;
  const types = (data as { type: string }[]).map(({ type }) => type).filter((type) => type.startsWith('browser.'));
  assert.deepEqual(types, ['browser.control_released', 'browser.control_taken']);
});

test('what is no message of a view ends it', async () => {
  for (const bad of [
    'x',
    '7',
    '{}',
    '{"type":"constructor"}',
    '{"type":"take","seconds":1e9}',
    '{"type":"go","url":"https://a/","extra":1}',
    '{"method":"Runtime.evaluate","id":1}',
    Buffer.from('{"type":"drawn"}'),
    'x'.repeat(100_000),
  ]) {
    const view = await View.open();
    view.socket.send(bad);
    const [code] = (await once(view.socket, 'close')) as [number];
    assert.ok([1007, 1009].includes(code), `${String(bad).slice(0, 40)}: ${code}`);
  }
});

test('a browser that ends and one that cannot start are said, and the view stays', async () => {
  guest.status = 'idle';
  const view = await View.open();
  await isTold(view);
  guest.status = 'failed';
  guest.message = 'it ended five times';
  await until(() => view.state?.['message'] === 'it ended five times');
  assert.deepEqual(view.state!['tabs'], []);
  view.send({ type: 'take', seconds: 60 });
  await until(() => view.told.some(({ type }) => type === 'trouble'));
  await view.close();
});

test('an agent has a few views at once, and a view ends with the right to it', async () => {
  const views = await Promise.all([1, 2, 3, 4].map(() => View.open()));
  assert.equal(await visitor.handshake(host, { cookie, origin: `http://${host}` }, '/socket'), 503);
  for (const view of views) await view.close();
  // It stays open: the end of the service ends it.
  await View.open();
});
