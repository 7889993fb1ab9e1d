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

/** Where a program of the person's machine would listen. The test answers for it. */
const program = 'http://127.0.0.1:4777/callback';

test('a program gets what its person leaves it, at its own address, and is revoked among the keys', async () => {
  await page.route(`${program}?*`, (route) => route.fulfill({ contentType: 'text/plain', body: 'Close this page.' }));
  const registered = await send('/v1/oauth/register', { client_name: 'Cur\u202esor<b>', redirect_uris: [program] });
  const { client_id } = (await registered.json()) as { client_id: string };
  const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
  const asked = new URLSearchParams({
    client_id,
    redirect_uri: program,
    response_type: 'code',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    scope: 'agents:read agents:chat',
    // A text that the router would read as a number.
    state: '1e5',
    resource: `${place.url}/v1/mcp`,
  });
  await page.goto(`${place.url}/account/authorize?${asked.toString()}`);
  await page.getByText('“Cur sor<b>”').waitFor();
  await page.getByText(new URL(program).host, { exact: true }).waitFor();
  await look(page, 'authorize');
  await page.getByLabel('agents:read').uncheck();
  await buttonIn(page, 'Give access').click();
  await page.waitForURL((url) => url.href.startsWith(program));
  const answer = new URL(page.url());
  assert.deepEqual([answer.searchParams.get('state'), answer.searchParams.get('iss')], ['1e5', place.url]);
  const token = await send('/v1/oauth/token', {
    grant_type: 'authorization_code',
    code: answer.searchParams.get('code'),
    client_id,
    redirect_uri: program,
    code_verifier: verifier,
  });
  const { scope } = (await token.json()) as { scope: string };
  assert.equal(scope, 'agents:chat');
  await page.goto(`${place.url}/account/keys`);
  await headingIn(page, 'Programs with access').waitFor();
  await look(page, 'grants');
  await buttonIn(page, /^Revoke the access of Cur/).click();
  await buttonIn(page.getByRole('dialog'), 'Revoke access').click();
  await headingIn(page, 'Programs with access').waitFor({ state: 'detached' });
});

test('a request for another address is told to the person, and leads nowhere', async () => {
  const registered = await send('/v1/oauth/register', { redirect_uris: ['https://app.example/callback'] });
  const { client_id } = (await registered.json()) as { client_id: string };
  const asked = new URLSearchParams({ client_id, redirect_uri: 'https://evil.example/', response_type: 'code' });
  await page.goto(`${place.url}/account/authorize?${asked.toString()}`);
  await page.getByText(/an address that it did not register/).waitFor();
  assert.equal(new URL(page.url()).origin, place.url);
});

test('no page did anything that its policy forbids', () => {
  assert.deepEqual(faults, []);
});
