/** The documents in a real browser: whole without any other host, and searched. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { openApp } from '../../packages/testkit/src/plane/http/open-app.ts';
import { launch, look, openBrowser } from './browser.ts';

const root = join(import.meta.dirname, '../..');
const faults: string[] = [];
const foreign: string[] = [];
const { baseUrl, close } = await openApp({
  api: (usual) => ({ ...usual, documents: join(root, 'apps/docs/dist') }),
});
const { origin: url } = new URL(baseUrl);
let browser: Browser;
let page: Page;

before(async () => {
  await promisify(execFile)(process.execPath, [join(root, 'scripts/build-docs.ts')], { timeout: 300_000 });
  browser = await launch(Number(new URL(url).port));
  page = await openBrowser(browser, faults);
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !/^(data|blob):/.test(request.url())) foreign.push(request.url());
  });
});
after(async () => {
  await browser?.close();
  await close();
});

test('the first page leads to a guide and to the reference of the API', async () => {
  await page.goto(`${url}/docs`);
  await page.getByRole('heading', { level: 1, name: 'Lodge' }).waitFor();
  await page.getByRole('img', { name: /^The dashboard/ }).waitFor();
  assert.equal(await page.evaluate(brokenPictures), 0);
  await page.locator('.VPSidebar').getByRole('link', { name: 'Usage and cost' }).click();
  await page.getByRole('heading', { level: 1, name: 'Usage and cost' }).waitFor();
  assert.equal(page.url(), `${url}/docs/guides/usage`);
  await look(page, 'documents');
  await page.locator('.VPNavBar').getByRole('link', { name: 'API' }).click();
  await page.waitForURL(`${url}/docs/reference/api/**`);
  await page.getByText('Create an agent').first().waitFor();
  for (const vendor of ['Ask AI', 'Generate MCP', 'Open API Client', 'Deploy', 'Share', /Powered by/, /scalar/i]) {
    const seen = page.getByText(vendor, typeof vendor === 'string' ? { exact: true } : {}).filter({ visible: true });
    assert.equal(await seen.count(), 0, String(vendor));
  }
  const links = (await page.evaluate(seenLinks)) as string[];
  assert.ok(links.length > 5);
  assert.deepEqual(
    links.filter((link) => !link.startsWith(url)),
    [],
    'nothing leads to another host',
  );
  await page.getByRole('navigation', { name: 'Lodge' }).getByRole('link', { name: 'Guides' }).click();
  await page.getByRole('heading', { level: 1, name: 'Lodge' }).waitFor();
});

const brokenPictures =
  '[...document.images].filter((image) => image.checkVisibility() && image.complete && image.naturalWidth === 0).length';

/** The addresses of all links that can be seen. */
const seenLinks =
  '[...document.querySelectorAll("a[href]")].filter((link) => link.checkVisibility()).map(({ href }) => href)';

test('search finds a word of a page', async () => {
  await page.goto(`${url}/docs/`);
  await page.getByRole('button', { name: 'Search' }).click();
  await page.locator('#localsearch-input').fill('spend limit');
  await page.locator('.VPLocalSearchBox .result').first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`${url}/docs/guides/**`);
});

test('an address of nothing shows a page that says so', async () => {
  const answer = await page.goto(`${url}/docs/guides/nothing`);
  assert.equal(answer?.status(), 404);
  await page.getByText('PAGE NOT FOUND').waitFor();
});

test('nothing was loaded from elsewhere, and nothing broke the policy', () => {
  assert.deepEqual(foreign, []);
  assert.deepEqual(faults, []);
});
