/** Agents' addresses in a real browser: a link is the way in, for one page of one agent, and other pages cannot use it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openAddresses } from '../e2e/agent-addresses.ts';
import type { Client } from '../e2e/contract/states.ts';
import { launch, openBrowser } from './browser.ts';

const faults: string[] = [];
const { guest, world, visitor, owner, stranger, agentId, link: makeLink, close } = await openAddresses();
let browser: Browser;
let context: BrowserContext;
let page: Page;
before(async () => {
  browser = await launch(visitor.port);
  page = await openBrowser(browser, faults);
  context = page.context();
});
after(async () => {
  await browser?.close();
  await close();
});

/** A link to a page of the agent, as it is reached here. */
async function link(client: Client, id: string): Promise<URL> {
  const url = new URL(await makeLink({ path: '/page' }, id, client));
  url.port = String(visitor.port);
  return url;
}

const heading = (): Promise<string> => page.getByRole('heading').innerText();
const said = (): Promise<unknown> => page.getByText('plum').waitFor({ timeout: 10_000 });

test('a link opens the page, its WebSocket works, and the token is nowhere to be seen', async () => {
  const url = await link(owner, agentId);
  await page.goto(url.href);
  assert.equal(await heading(), 'Page of the guest');
  await said();
  assert.equal(page.url(), `${url.origin}/page`);
  const token = url.searchParams.get('token')!;
  assert.ok(guest.seen.every(({ headers, url }) => !JSON.stringify([headers, url]).includes(token)));
  const [cookie, ...others] = await context.cookies(url.origin);
  assert.deepEqual(others, []);
  assert.deepEqual(
    [cookie!.name, cookie!.domain, cookie!.httpOnly, cookie!.sameSite],
    ['lodge_visit', url.hostname, true, 'Lax'],
  );
  await page.reload();
  await said();
});

test("no cookie of the service's own reaches a guest, wherever it was set", async () => {
  const { hostname, origin } = await link(owner, agentId);
  const session = { name: 'lodge_session', value: 'secret-of-a-session', path: '/' };
  await context.addCookies(['localhost', '.localhost', hostname].map((domain) => ({ ...session, domain })));
  await context.addCookies([{ name: 'own', value: '1', path: '/', domain: hostname }]);
  const before = guest.seen.length;
  await page.goto(`${origin}/page`);
  await said();
  const seen = guest.seen.slice(before).map(({ headers }) => headers.cookie);
  assert.ok(
    seen.length >= 2 && seen.every((cookie) => cookie === 'own=1; of_host=1; of_gateway=2'),
    JSON.stringify(seen),
  );
});

test('a link that was used, has expired or is of another account opens nothing', async () => {
  const used = await link(owner, agentId);
  await page.goto(used.href);
  const expired = await link(owner, agentId);
  await world.sql.query('update agent_visits set expires_at = now() where opened_at is null');
  const foreign = await link(stranger, await stranger.agent('running'));
  foreign.hostname = used.hostname;
  await context.clearCookies();
  const before = guest.seen.length;
  for (const url of [used, expired, foreign]) {
    const reply = await page.goto(url.href);
    assert.equal(reply!.status(), 404);
    assert.equal(await heading(), 'There is nothing here');
    assert.equal((await page.goto(`${url.origin}/page`))!.status(), 401);
    assert.equal(await heading(), 'This address opens with a link');
  }
  assert.equal(guest.seen.length, before, 'no guest was asked');
});

test("one agent's visit is of no use at another, and its pages can use no other visit", async () => {
  const own = await link(owner, agentId);
  await page.goto(own.href);
  await said();
  const other = await link(owner, await owner.agent('running'));
  const reply = await page.goto(`${other.origin}/page`);
  assert.equal(reply!.status(), 401);
  // Now both are open in this browser, and the other's page tries its neighbour.
  await page.goto(other.href);
  await said();
  const before = guest.seen.length;
  const outcome = await page.evaluate(`(async () => {
    const there = ${JSON.stringify(own.origin)};
    const asks = [['GET'], ['POST']].map(([method]) =>
      fetch(there + '/page', { method, credentials: 'include', mode: 'no-cors' }).then(() => 'sent', String));
    const socket = new WebSocket(there.replace('http', 'ws') + '/page');
    const opened = new Promise((done) => {
      socket.onopen = () => done('opened');
      socket.onerror = () => done('refused');
    });
    const frame = document.createElement('iframe');
    frame.src = there + '/page';
    const framed = new Promise((done) => (frame.onload = done));
    document.body.append(frame);
    await framed;
    return [...(await Promise.all(asks)), await opened];
  })()`);
  assert.equal((outcome as string[]).at(-1), 'refused');
  // A browser asks for the icon of a page that it has opened whenever it likes.
  const all = guest.seen.map(({ headers, method, url }) => ({ host: headers['x-forwarded-host'], method, url }));
  const isPage = ({ host, url }: (typeof all)[number]): boolean => host === own.host && url !== '/favicon.ico';
  assert.ok(all.some(isPage));
  const asked = all.slice(before).filter(isPage);
  assert.deepEqual(asked, [], `the neighbour was asked: ${JSON.stringify(outcome)}`);
});
