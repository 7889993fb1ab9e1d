/**
 * The view of an agent's browser in a real Chromium, which shows another real Chromium: a person takes over, fills a form and
 * gives back. Hostile pages in the agent's reach neither the viewer nor the host.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { BrowserGuest } from '../e2e/browser-guest.ts';
import { openWorld } from '../e2e/api/world.ts';
import type { World } from '../e2e/api/world.ts';
import { Client } from '../e2e/contract/states.ts';
import { launch, look, openBrowser } from './browser.ts';
import { hostilePages } from './browser-hostile.ts';

const executablePath = process.env['LODGE_TEST_CHROMIUM'] ?? '/usr/bin/chromium';
const faults: string[] = [];
const guest = new BrowserGuest();
/** Pages of the agent's browser tell here what they got hold of. */
const told: string[] = [];
const form = '<!doctype html><title>Sign in</title><form action="/signed-in"><input name="word" autofocus></form>';
/** The pages that the agent's browser visits. */
const site = createServer((request, response) => {
  const { pathname, search } = new URL(request.url!, 'http://site');
  if (pathname === '/told') told.push(decodeURIComponent(search.slice(1)));
  const body = pathname === '/form' ? form : pathname === '/signed-in' ? `<title>Welcome ${search}</title>` : null;
  const hostile = hostilePages(places)[Number(pathname.slice(1))];
  response.setHeader('content-type', 'text/html; charset=utf-8');
  response.end(body ?? hostile?.html ?? '');
});
const places = { view: '', api: '', cdp: '' };
let profile: string;
let agents: ChildProcess;
let world: World;
let owner: Client;
let id: string;
let browser: Browser;
let page: Page;
let viewUrl: string;

before(async () => {
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  profile = await mkdtemp(join(tmpdir(), 'lodge-test-browser-'));
  guest.cdpPort = await startChromium();
  const onError = (fields: object, words: string): void => void faults.push(`${words} ${JSON.stringify(fields)}`);
  world = await openWorld({ guestPort: await guest.listen(), onError });
  owner = new Client(world);
  id = await owner.agent('running', { name: 'ada', size: 'medium', browser: true });
  const port = Number(new URL(world.url).port);
  browser = await launch(port);
  page = await openBrowser(browser, faults);
  page.on('dialog', (dialog) => void faults.push(`a dialog: ${dialog.message().slice(0, 100)}`));
  const { url } = (await owner.call('POST', `/agents/${id}/links`, { page: 'browser' })).body;
  const link = new URL(url as string);
  link.port = String(port);
  viewUrl = `${link.origin}/`;
  Object.assign(places, { view: viewUrl, api: world.url, cdp: `http://127.0.0.1:${guest.cdpPort}` });
  page.on('request', (request) => {
    if (!request.url().startsWith(viewUrl)) faults.push(`a request for ${request.url().slice(0, 200)}`);
  });
  await page.goto(link.href);
});
after(async () => {
  await browser?.close();
  await world?.close();
  guest.close();
  agents?.kill('SIGKILL');
  site.closeAllConnections();
  site.close();
  await rm(profile, { recursive: true, force: true, maxRetries: 5 });
});

/** The Chromium of the agent: returns its debugging port. Its own sandbox is refused to root, and its pages are ours. */
async function startChromium(): Promise<number> {
  const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const options = ['--headless=new', '--remote-debugging-port=0', `--user-data-dir=${profile}`, '--no-first-run'];
  agents = spawn(executablePath, [...options, ...root, '--disable-gpu', 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  for await (const chunk of agents.stderr! as AsyncIterable<Buffer>) {
    said += chunk.toString();
    const port = /ws:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1];
    if (port !== undefined) break;
  }
  // Nobody reads on, and it must not wait for that.
  const [, port] = /ws:\/\/127\.0\.0\.1:(\d+)/.exec(said)!;
  return Number(port);
}

const origin = (): string => `http://127.0.0.1:${(site.address() as AddressInfo).port}`;

/** Leaves the agent's browser with this one tab. */
async function onlyTab(url: string): Promise<void> {
  const at = `http://127.0.0.1:${guest.cdpPort}/json`;
  const made = (await (await fetch(`${at}/new?${encodeURIComponent(url)}`, { method: 'PUT' })).json()) as {
    id: string;
  };
  const all = (await (await fetch(`${at}/list`)).json()) as { id: string; type: string }[];
  for (const tab of all)
    if (tab.type === 'page' && tab.id !== made.id) await fetch(`${at}/close/${tab.id}`).catch(() => undefined);
}

const canvas = () => page.locator('#screen');
const status = () => page.getByRole('status');

test('a person takes over, fills a form and gives back', async () => {
  await onlyTab(`${origin()}/form`);
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  await status().getByText('You look on').waitFor();
  await look(page, 'browser-view');
  await canvas().click();
  await page.keyboard.type('nobody sees this');
  await page.getByRole('button', { name: 'Take control' }).click();
  await status().getByText('The agent waits').waitFor();
  assert.ok(guest.isHeld);
  await canvas().click({ position: { x: 80, y: 20 } });
  await page.keyboard.type('pluM');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Welcome ?word=pluM', exact: true }).waitFor();
  await look(page, 'browser-view-held');
  await page.getByRole('button', { name: 'Give back' }).click();
  await status().getByText('You look on').waitFor();
  assert.equal(guest.isHeld, false);
  assert.deepEqual(faults, []);
});

test('hostile pages reach neither the viewer nor the host', async (t) => {
  const pages = hostilePages(places);
  assert.ok(pages.length >= 20);
  for (const [at, { name }] of pages.entries()) {
    await t.test(name, async () => {
      await onlyTab(`${origin()}/${at}`);
      await sleep(2_500);
      const began = performance.now();
      assert.equal((await owner.call('GET', `/agents/${id}`)).status, 200);
      assert.ok(performance.now() - began < 5_000);
      const seen = await page.evaluate(
        '[document.title, location.href, typeof window.pwned, document.scripts.length, document.images.length]',
      );
      assert.deepEqual(seen, ['Browser of ada', viewUrl, 'undefined', 1, 0]);
      assert.equal(page.context().pages().length, 1);
      assert.deepEqual([faults, told], [[], []]);
    });
  }
  await onlyTab(`${origin()}/form`);
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
});
