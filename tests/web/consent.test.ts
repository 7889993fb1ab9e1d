/** Programs that ask for access, in a real browser: what a person sees of them, and what they give. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { buttonIn, fieldIn, headingIn, signIn } from './actions.ts';
import type { Person } from './actions.ts';
import { launch, look, openBrowser } from './browser.ts';
import { openPlace } from './place.ts';
import type { Place } from './place.ts';

const ada: Person = { name: 'Ada Lovelace', email: 'ada@example.test', password: 'analytical engine 1843' };
const faults: string[] = [];
let place: Place;
let browser: Browser;
let page: Page;

before(async () => {
  place = await openPlace();
  browser = await launch(Number(new URL(place.url).port));
  page = await openBrowser(browser, faults);
  const token = place.ownerLink.split('#token=')[1];
  const made = await send('/v1/account/setup', { token, ...ada }, { origin: place.url });
  assert.equal(made.status, 200, await made.text());
});
after(async () => {
  await browser?.close();
  await place?.close();
});

const send = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(place.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

interface Begun {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
}

async function begin(name: string): Promise<Begun> {
  const reply = await send('/v1/oauth/device_authorization', { client_name: name, scope: 'agents:read agents:chat' });
  return (await reply.json()) as Begun;
}

async function fetched({ device_code }: Begun): Promise<Record<string, string>> {
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
  return (await (await send('/v1/oauth/token', { grant_type, device_code })).json()) as Record<string, string>;
}

test('a machine is signed in by the code that both sides show, with the scopes that its person leaves', async () => {
  const begun = await begin('evil\u202etxt.exe</p><script>alert(1)</script>');
  await page.goto(begun.verification_uri_complete);
  // Signing in leads back to the code.
  await signIn(ada, page);
  await page.getByText(begun.user_code).waitFor();
  await page.getByText('“evil txt.exe</p><script>alert(1)</script>”').waitFor();
  await look(page, 'device');
  await page.getByLabel('agents:read').uncheck();
  await page.getByLabel('agents:chat').uncheck();
  await buttonIn(page, 'Approve').click();
  await page.getByText('Choose at least one scope, or deny.').waitFor();
  await page.getByLabel('agents:chat').check();
  await buttonIn(page, 'Approve').click();
  await page.getByText('The machine is signed in').waitFor();
  const token = await fetched(begun);
  assert.equal(token['scope'], 'agents:chat', JSON.stringify(token));
  await page.goto(`${place.url}/account/keys`);
  await page.getByText(`…${token['access_token']!.slice(-4)}`).waitFor();
});

test('a code is typed by hand, and a machine that is denied gets nothing', async () => {
  const begun = await begin('build-7');
  await page.goto(begun.verification_uri);
  await fieldIn(page, 'Code').fill('BBBB-BBBB');
  await buttonIn(page, 'Continue').click();
  await page
    .getByRole('alert')
    .getByText(/No machine waits with this code/)
    .waitFor();
  await fieldIn(page, 'Code').fill(begun.user_code.toLowerCase());
  await buttonIn(page, 'Continue').click();
  await page.getByText('“build-7”').waitFor();
  await buttonIn(page, 'Deny').click();
  await page.getByText('Denied').waitFor();
  assert.equal((await fetched(begun))['error'], 'access_denied');
  await headingIn(page, 'Sign a machine in').waitFor();
});

test('no page did anything that its policy forbids', () => {
  assert.deepEqual(faults, []);
});
