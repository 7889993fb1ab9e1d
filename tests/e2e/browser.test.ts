/** The browser of an agent over the API: its field, its state, and who has its control. A stand-in is the guest's daemon. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { openWorld } from './api/world.ts';
import type { World } from './api/world.ts';
import { BrowserGuest } from './browser-guest.ts';
import { Client } from './contract/states.ts';

const guest = new BrowserGuest();
let list: unknown = [];
/** Answers as the debugging port of Chromium. */
const chromium = createServer((_, response) => void response.end(JSON.stringify(list)));
let world: World;
let owner: Client;
let id: string;

before(async () => {
  chromium.listen(0, '127.0.0.1');
  await once(chromium, 'listening');
  guest.cdpPort = (chromium.address() as AddressInfo).port;
  world = await openWorld({ guestPort: await guest.listen(), kinds: ['runtime_a', 'runtime_b'] });
  owner = new Client(world);
  id = await owner.agent('running', { size: 'medium', browser: true });
});
after(async () => {
  await world?.close();
  guest.close();
  chromium.close();
});
beforeEach(() => {
  Object.assign(guest, { status: 'running', message: null, isOld: false });
});

const read = async (agent = id) => (await owner.call('GET', `/agents/${agent}/browser`)).body;
const take = (body: object = {}, agent = id) => owner.call('POST', `/agents/${agent}/browser/control`, body);
const release = () => owner.call('DELETE', `/agents/${id}/browser/control`);
const code = async (call: ReturnType<Client['call']>): Promise<[number, string]> => {
  const { status, body } = await call;
  return [status, body.error.code];
};

test('an agent has a browser when its owner says so, in a machine that has room', async () => {
  const plain = await owner.agent('running', { size: 'medium' });
  assert.deepEqual([(await read(plain)).enabled, (await read(plain)).status], [false, 'off']);
  assert.deepEqual(await code(take({}, plain)), [409, 'browser_not_running']);
  assert.equal((await owner.call('PATCH', `/agents/${plain}`, { browser: true })).body.browser, true);
  assert.deepEqual([(await read(plain)).enabled, (await read(plain)).status], [true, 'running']);
  const small = await owner.call('PATCH', `/agents/${plain}`, { size: 'small' });
  assert.deepEqual([small.status, small.body.error.message.split(' ')[0]], [400, 'browser']);
  assert.equal((await owner.call('PATCH', `/agents/${plain}`, { size: 'small', browser: null })).body.browser, false);
  const hermes = { runtime_kind: 'runtime_b', model: 'claude-sonnet-5', size: 'small', browser: true };
  assert.ok(await owner.agent('running', hermes));
});

test('its tabs are shown, and words of a hostile guest are bounded', async () => {
  const tab = { id: 'A'.repeat(32), type: 'page', title: `a\u202Eb\n${'x'.repeat(500)}`, url: 'https://example.com/' };
  list = [tab, { ...tab, type: 'service_worker' }, { ...tab, id: '../x' }, 7, null];
  const { tabs, controlled_by } = await read();
  assert.equal(controlled_by, 'agent');
  assert.equal(tabs.length, 1);
  assert.deepEqual([tabs[0].url, tabs[0].title.slice(0, 5), tabs[0].title.length], [tab.url, 'a b x', 200]);
  for (const bad of [{}, 'x', [['y'.repeat(2_000_000)]], Array.from({ length: 9_000 }, () => ({}))]) {
    list = bad;
    assert.deepEqual((await read()).tabs, []);
  }
  list = Array.from({ length: 80 }, () => tab);
  assert.equal((await read()).tabs.length, 50);
});

test('where the guest finds no browser, its host says why', async () => {
  guest.status = 'unavailable';
  guest.message = 'words of the guest';
  const sentences: string[] = [];
  for (const state of ['building', 'failed', 'no_device', 'shown'] as const) {
    world.host.browser = { state, message: 'apt-get failed in /var/cache/lodge' };
    const { status, message } = await read();
    assert.equal(status, 'unavailable');
    sentences.push(message);
  }
  assert.equal(sentences.pop(), 'words of the guest');
  assert.match(sentences.join(' '), /is being prepared.* could not be prepared.* from before browsers/);
  assert.doesNotMatch(sentences.join(' '), /apt-get|cache/, 'nothing of the operator’s');
});

test('control is taken for a bounded time, given back, and both are told', async () => {
  for (const seconds of [29, 3601, 1.5]) assert.equal((await take({ seconds })).status, 400);
  const taken = await take({ seconds: 60 });
  assert.deepEqual([taken.status, taken.body.controlled_by], [200, 'owner']);
  const left = Date.parse(taken.body.control_ends_at) - Date.now();
  assert.ok(left > 50_000 && left < 62_000, String(left));
  assert.ok(guest.isHeld);
  assert.equal((await release()).body.controlled_by, 'agent');
  assert.equal((await release()).body.controlled_by, 'agent');
  const { data } = (await owner.call('GET', `/events?agent_id=${id}`)).body;
  assert.deepEqual(
    (data as { type: string; data: object }[])
      .filter(({ type }) => type.startsWith('browser.'))
      .map(({ type, data: of }) => [type, of]),
    [
      ['browser.control_released', {}],
      ['browser.control_taken', { seconds: 60 }],
    ],
  );
});

test('without a running browser nobody takes the control', async () => {
  guest.status = 'idle';
  assert.deepEqual(await code(take()), [409, 'browser_not_running']);
  assert.equal((await read()).controlled_by, null);
  guest.status = 'failed';
  guest.message = 'it ended\u202E five times';
  assert.equal((await read()).message, 'it ended five times');
  guest.isOld = true;
  assert.deepEqual(await code(take()), [409, 'agent_outdated']);
  assert.equal((await read()).status, 'unavailable');
});

test('an agent that does not run is woken by no look at its browser', async () => {
  const stopped = await owner.agent('stopped', { size: 'medium', browser: true });
  assert.equal((await read(stopped)).status, 'asleep');
  assert.deepEqual(await code(take({}, stopped)), [409, 'agent_not_running']);
  assert.equal((await owner.call('GET', `/agents/${stopped}`)).body.status, 'stopped');
});
