/** The dashboard's frame: its keys, what is live in it, and what it says when the server is away or the session has ended. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Lodge } from '@lodge/sdk';
import { FaultyProxy } from '@lodge/testkit/faulty-proxy';
import type { Browser, Page } from 'playwright-core';
import { buttonIn, fieldIn, fillAccount, headingIn, isFocused, signIn, signOut } from './actions.ts';
import type { Person } from './actions.ts';
import { accountChanges, agentChanges, changeIn } from './changes.ts';
import type { Change } from './changes.ts';
import { launch, look, openBrowser } from './browser.ts';
import { openPlace } from './place.ts';
import type { Place } from './place.ts';

const ada: Person = { name: 'Ada Lovelace', email: 'ada@example.test', password: 'analytical engine 1843' };

let place: Place;
let proxy: FaultyProxy;
let browser: Browser;
let page: Page;
let second: Page;
let lodge: Lodge;
const faults: string[] = [];

before(async () => {
  place = await openPlace();
  proxy = await FaultyProxy.start(place.url);
  browser = await launch(Number(new URL(proxy.url).port));
  page = await openBrowser(browser, faults);
  second = await openBrowser(browser, faults);
  for (const each of [page, second]) each.setDefaultTimeout(40_000);
});
after(async () => {
  await browser?.close();
  await proxy?.close();
  await place?.close();
});

/** As the limiter answers. */
const tooMany = JSON.stringify({
  error: { type: 'rate_limit_error', code: 'rate_limit_exceeded', message: 'Too many.' },
});
const at = (path: string): string => `${proxy.url}${path}`;

test('the first agent takes three fields and no key', async () => {
  await page.goto(place.ownerLink.replace(place.url, proxy.url));
  await fillAccount(ada, page);
  await buttonIn(page, 'Finish set-up').click();
  await headingIn(page, 'Your first agent').waitFor();
  await look(page, 'home-first');
  await fieldIn(page, 'Name').fill('');
  await buttonIn(page, 'Create and chat').click();
  await page.getByText('Give it a name.').waitFor();
  await fieldIn(page, 'Model provider').selectOption('anthropic');
  await fieldIn(page, 'API key').waitFor();
  await look(page, 'home-first-key');
  await fieldIn(page, 'Model provider').selectOption('tryout');
  await fieldIn(page, 'Name').fill('Bess');
  await buttonIn(page, 'Create and chat').click();
  await headingIn(page, 'Bess').waitFor();
  assert.match(new URL(page.url()).pathname, /^\/agents\/[a-z0-9]+\/chat$/);
  await page.goto(at('/account/keys'));
  await buttonIn(page, 'Create New Key').click();
  await fieldIn(page, 'Name').fill('test');
  for (const scope of [/agents:read/, /agents:write/, /agents:delete/])
    await page.getByRole('checkbox', { name: scope }).check();
  await buttonIn(page, 'Create key').click();
  lodge = new Lodge({ baseUrl: place.url, apiKey: await fieldIn(page, 'API key').inputValue() });
  await buttonIn(page, 'I have kept it safe').click();
});

test('pages, agents and actions are found by a few letters, and keys lead to them', async () => {
  await page.goto(at('/'));
  await headingIn(page, 'Newest agents').waitFor();
  await page.getByText('Runs for the first time').waitFor();
  await look(page, 'home');
  await page.keyboard.press('Control+k');
  const input = page.getByPlaceholder('Find a page, an agent or an action');
  await input.waitFor();
  assert.ok(await isFocused(input));
  await page.getByRole('option', { name: 'Bess' }).waitFor();
  await look(page, 'palette');
  await page.keyboard.type('api k');
  await page.getByRole('option', { name: 'API Keys', selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await headingIn(page, 'API Keys').waitFor();
  await page.keyboard.press('?');
  await headingIn(page, 'Keyboard shortcuts').waitFor();
  await look(page, 'keys-of-the-keyboard');
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('h');
  await headingIn(page, 'Home').waitFor();
  await page.keyboard.press('Control+k');
  await input.waitFor();
  await page.keyboard.type('bess');
  await page.getByRole('option', { name: 'Bess', selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await headingIn(page, 'Bess').waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: 'Stop' }).click();
  await page.getByText('Bess has stopped.').first().waitFor();
  await page.getByText('Stopped', { exact: true }).waitFor();
  await buttonIn(page, 'Start').click();
  await page.getByText('Running', { exact: true }).waitFor();
});

test('two browsers see each other’s changes as they happen', async (t) => {
  await second.goto(at('/account/sign-in'));
  await signIn(ada, second);
  await headingIn(second, 'Home').waitFor();
  const row = second.getByRole('link', { name: /^Bess (Running|Stopped)/ });
  await row.waitFor();
  const stopped = row.getByText('Stopped');
  await buttonIn(page, 'Stop').click();
  await page.getByText('Stopped', { exact: true }).waitFor();
  const doneAt = performance.now();
  await stopped.waitFor();
  t.diagnostic(`a stop was seen after ${Math.round(performance.now() - doneAt)} ms`);
  await lodge.agents.create({ name: 'Carol', model: 'tryout/echo' });
  const madeAt = performance.now();
  await second.getByText('Carol').first().waitFor();
  t.diagnostic(`a new agent was seen after ${Math.round(performance.now() - madeAt)} ms`);
});

test('a change of one person is on the page that another looks at, whatever it is of', async (t) => {
  const id = new URL(page.url()).pathname.split('/')[2]!;
  const told: string[] = [];
  const see = async (change: Change): Promise<void> => {
    await second.getByRole('link', { name: change.page, exact: true }).click();
    await headingIn(second, change.page).first().waitFor();
    await second.getByText(change.before).first().waitFor();
    await changeIn(page, proxy.url, change.request);
    const doneAt = performance.now();
    await change.after(second).waitFor({ timeout: 10_000 });
    told.push(`${change.page} ${Math.round(performance.now() - doneAt)} ms`);
  };
  await second.getByRole('link', { name: 'Bess' }).first().click();
  await headingIn(second, 'Bess').waitFor();
  for (const change of agentChanges(id)) await see(change);
  await second.goto(at('/account/usage'));
  for (const change of accountChanges) await see(change);
  t.diagnostic(`seen after: ${told.join(', ')}`);
});

test('a page that was hidden is read again when it is seen, however young it is', async () => {
  const turn = (to: 'hidden' | 'visible') =>
    second.evaluate(
      `Object.defineProperty(document, 'visibilityState', { value: '${to}', configurable: true });
       document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`,
    );
  const [, path] = accountChanges.at(-1)!.request;
  await turn('hidden');
  await changeIn(page, proxy.url, ['POST', path, { email: 'ida@example.test' }]);
  // The newest event is of something else when the page begins to follow again.
  await changeIn(page, proxy.url, ['POST', '/v1/webhooks', { url: 'https://example.com/', events: ['usage.*'] }]);
  await turn('visible');
  await second.getByText('ida@example.test').first().waitFor({ timeout: 10_000 });
});

test('a dead connection is told, and comes back without a reload', async (t) => {
  const notice = page.getByText('Lodge does not answer.');
  await page.goto(at('/'));
  await page.getByText('Carol').first().waitFor();
  const downAt = performance.now();
  await proxy.down();
  await notice.waitFor();
  t.diagnostic(`it was told after ${Math.round(performance.now() - downAt)} ms`);
  await lodge.agents.create({ name: 'Dora', model: 'tryout/echo' });
  await proxy.up();
  await notice.waitFor({ state: 'detached' });
  await page.getByText('Dora').first().waitFor();
  await look(page, 'home-again');
});

test('a server that is silent, in trouble or busy is told at its place, and what was typed stays', async () => {
  await page.goto(at('/account/keys'));
  await buttonIn(page, 'Create New Key').click();
  await fieldIn(page, 'Name').fill('a name that took long to think of');
  await page.getByRole('checkbox', { name: /agents:read/ }).check();
  for (const [fault, words] of [
    [{ kind: 'status', status: 500 }, 'The proxy refuses.'],
    [{ kind: 'status', status: 429, retryAfter: 30, body: tooMany }, 'Try again in 30 seconds.'],
  ] as const) {
    proxy.fail({ fault, method: 'POST', path: '/account/keys' });
    await buttonIn(page, 'Create key').click();
    await page.getByRole('alert').getByText(words).waitFor();
    assert.equal(await fieldIn(page, 'Name').inputValue(), 'a name that took long to think of');
  }
  await proxy.down();
  await buttonIn(page, 'Create key').click();
  await page.getByRole('alert').getByText('Lodge cannot be reached').waitFor();
  await proxy.up();
  assert.equal(await fieldIn(page, 'Name').inputValue(), 'a name that took long to think of');
  proxy.fail({ fault: { kind: 'slow', ms: 1_500 }, method: 'POST', path: '/account/keys' });
  await buttonIn(page, 'Create key').click();
  await page.locator('[aria-busy=true]').waitFor();
  await headingIn(page, 'Copy your key now').waitFor();
  await buttonIn(page, 'I have kept it safe').click();
});

test('a session that ends anywhere ends everywhere, and leads back to the page', async () => {
  await second.goto(at('/account/usage'));
  await headingIn(second, 'Usage & limits').waitFor();
  const tab = await page.context().newPage();
  await tab.goto(at('/account/usage?days=7'));
  await headingIn(tab, 'Usage & limits').waitFor();
  await signOut(page);
  await headingIn(tab, 'Sign in').waitFor();
  await signIn(ada, tab);
  await headingIn(tab, 'Usage & limits').waitFor();
  assert.equal(new URL(tab.url()).pathname + new URL(tab.url()).search, '/account/usage?days=7');
  await tab.close();
  await headingIn(second, 'Usage & limits').waitFor();
});

test('no page broke the content security policy or its own code', () => assert.deepEqual(faults, []));
