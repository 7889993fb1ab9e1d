import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Server } from 'node:http';
import { dialTo, guestClient } from '@lodge/guest';
import { applyBrowser, browserInGuest } from './browser.ts';
import { listenDaemon, newDaemon } from './testing/stub-daemon.ts';

const host = '127.0.34.1';
const daemon = newDaemon();
let server: Server;
before(async () => {
  server = await listenDaemon(host, daemon);
});
after(() => server.close());

const guest = guestClient({ dial: dialTo(host), credential: () => Promise.resolve(null) });
const apply = (browser: boolean): Promise<void> => applyBrowser(guest, browser, AbortSignal.timeout(10_000));

test('a browser is offered and taken away, and without one nothing is asked of the guest', async () => {
  assert.deepEqual([browserInGuest(false), browserInGuest(true)], [{}, { browser: true }]);
  await apply(false);
  assert.deepEqual(daemon.events, []);
  await apply(true);
  await apply(true);
  await apply(false);
  await apply(false);
  assert.deepEqual(daemon.events, ['browser true', 'browser true', 'browser false']);
});

test('the daemon of an older image offers none, and the other settings go on', async () => {
  daemon.isOld = true;
  await apply(true);
  daemon.isOld = false;
});
