/** The account area in a real browser, from the owner's link to a revoked key, as a person would use it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { buttonIn, fieldIn, fillAccount, headingIn, isFocused, signIn, signOut, withoutEvents } from './actions.ts';
import type { Person } from './actions.ts';
import { launch, look, looked, openBrowser, sizes } from './browser.ts';
import { openPlace } from './place.ts';
import type { Place } from './place.ts';

import { freshTotp } from './totp.ts';
import { walkUsage } from './usage.ts';

const owner: Person = { name: 'Ada Lovelace', email: 'ada@example.test', password: 'analytical engine 1843' };
const member: Person = { name: 'Grace Hopper', email: 'grace@example.test', password: 'compilers are not magic' };

let place: Place;
let browser: Browser;
let page: Page;
let members: Page;
const faults: string[] = [];
/** The second factor of the owner, once it is set up. */
let secret = '';
let recoveryCodes: string[] = [];

before(async () => {
  place = await openPlace();
  browser = await launch(Number(new URL(place.url).port));
  page = await openBrowser(browser, faults);
  members = await openBrowser(browser, faults);
});
after(async () => {
  await browser?.close();
  await place?.close();
});

const at = (path: string): string => `${place.url}/account${path}`;
const button = (name: string | RegExp, within: Page | Locator = page): Locator => buttonIn(within, name);
const dialog = (within = page): Locator => within.getByRole('dialog');
const heading = (name: string, within = page): Locator => headingIn(within, name);
const field = (name: string, within: Page | Locator = page): Locator => fieldIn(within, name);

test('a stranger is led to the sign-in page, and wrong credentials say no more than that', async () => {
  await page.goto(at('/security'));
  await heading('Sign in').waitFor();
  assert.equal(await page.title(), 'Sign in · Lodge');
  await look(page, 'sign-in');
  await button('Sign in').click();
  await page.getByText('Enter an e-mail address.').waitFor();
  assert.ok(await isFocused(field('E-mail')), 'the first wrong field has the focus');
  await signIn({ ...owner, email: 'nobody@example.test' }, page);
  await page.getByRole('alert').getByText('E-mail or password is wrong.').waitFor();
  await look(page, 'sign-in-refused');
});

test('links that are not valid say where to get another', async () => {
  for (const path of ['/setup', '/join', '/reset']) {
    await page.goto(at(`${path}#token=no-such-token`));
    await heading('This link does not work').waitFor();
    await look(page, `link-not-valid${path.replace('/', '-')}`);
  }
  await page.goto(at('/nowhere'));
  await heading('There is no such page').waitFor();
  await look(page, 'not-found');
  await page.goto(at('/register'));
  await page.getByText(/by invitation only|Your name/).waitFor();
  await look(page, 'register');
});

test('the owner sets up the account by the link, which works once', async () => {
  await page.goto(place.ownerLink);
  await field('Your name').waitFor();
  await look(page, 'setup');
  await fillAccount({ ...owner, password: 'too short' }, page);
  await button('Finish set-up').click();
  await page.getByText('Use at least 12 characters.').waitFor();
  await fillAccount(owner, page);
  await button('Finish set-up').click();
  await heading('Home').waitFor();
  assert.equal(new URL(page.url()).pathname, '/');
  assert.ok(!page.url().includes('token'), 'the token is not left in the address');
  await page.goto(at('/sign-in'));
  await heading('Home').waitFor();
  await members.goto(place.ownerLink);
  await heading('This link does not work', members).waitFor();
});

test('a key is made, shown once, used, listed and revoked', async () => {
  await page.goto(at('/keys'));
  await heading('API Keys').waitFor();
  await look(page, 'keys-before');
  await button('Create New Key').click();
  assert.ok(await isFocused(field('Name')), 'the focus is in the dialog');
  await button('Create key').click();
  await page.getByText('Choose at least one scope.').waitFor();
  await look(page, 'key-form-problems');
  await field('Name').fill('Support bot, production');
  await page.getByRole('checkbox', { name: /agents:read/ }).check();
  await page.getByRole('checkbox', { name: /usage:read/ }).check();
  await field('Expires').selectOption('In 30 days');
  await look(page, 'key-form');
  await button('Create key').click();
  await heading('Copy your key now').waitFor();
  const key = await field('API key').inputValue();
  assert.match(key, /^lodge_live_[0-9A-Za-z]{43,}$/);
  await look(page, 'key-shown');
  await page.keyboard.press('Escape');
  await heading('Copy your key now').waitFor();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await button('Copy').click();
  await button('Copied').waitFor();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), key);
  await button('I have kept it safe').click();
  assert.ok(await isFocused(button('Create New Key')), 'the focus is back where it came from');

  const row = page.getByRole('row', { name: /Support bot, production/ });
  await row.getByText('Active').waitFor();
  await row.getByText(`…${key.slice(-4)}`).waitFor();
  assert.ok(!(await page.content()).includes(key), 'the key is nowhere on the page any more');
  assert.equal(await statusWith(key), 200);
  await look(page, 'keys');

  const revoke = button('Revoke Support bot, production');
  await revoke.click();
  await dialog().getByText('This cannot be undone.').waitFor();
  assert.ok(await isFocused(button('Cancel')), 'the harmless answer has the focus');
  await look(page, 'key-revoke');
  await page.keyboard.press('Escape');
  assert.ok(await isFocused(revoke), 'Escape cancels and gives the focus back');
  assert.equal(await statusWith(key), 200);
  await revoke.click();
  await button('Revoke key').click();
  await page.getByText('“Support bot, production” is revoked.').first().waitFor();
  const revokedAt = performance.now();
  // How soon, is the verifier's own promise; see its test.
  while ((await statusWith(key)) !== 401) assert.ok(performance.now() - revokedAt < 60_000, 'revoked');
  await row.getByText('Revoked').waitFor();
  await look(page, 'keys-revoked');
});

async function statusWith(key: string): Promise<number> {
  const reply = await fetch(`${place.url}/v1/agents`, { headers: { authorization: `Bearer ${key}` } });
  await reply.arrayBuffer();
  return reply.status;
}

test('the keyboard is enough: skip link, navigation, menu, theme', async () => {
  await page.goto(at('/keys'));
  await heading('API Keys').waitFor();
  await page.keyboard.press('Tab');
  const skip = page.getByRole('link', { name: 'Skip to content' });
  assert.ok(await isFocused(skip));
  await page.keyboard.press('Enter');
  assert.ok(await isFocused(page.locator('#main')));
  await page.getByRole('link', { name: 'Security' }).focus();
  await page.keyboard.press('Enter');
  await heading('Security').waitFor();
  assert.ok(await isFocused(heading('Security')), 'a new page is read from its heading');
  assert.equal(await page.title(), 'Security · Lodge');

  await button(/^Account: /).focus();
  await page.keyboard.press('Enter');
  const dark = page.getByRole('menuitemradio', { name: 'Dark' });
  await dark.waitFor();
  await look(page, 'account-menu', 'wide');
  await page.keyboard.press('Escape');
  assert.ok(await isFocused(button(/^Account: /)), 'Escape closes and gives the focus back');
});

test('the chosen theme outlives a reload', async () => {
  const background = (): Promise<unknown> =>
    page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
  const light = await background();
  await button(/^Account: /).click();
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  const dark = await background();
  assert.notEqual(dark, light);
  await page.reload();
  await heading('Security').waitFor();
  assert.equal(await background(), dark);
  await button(/^Account: /).click();
  await page.getByRole('menuitemradio', { name: 'Same as system' }).click();
  await page.keyboard.press('Escape');
  assert.equal(await background(), light);
});

test('on a narrow screen the navigation is behind a button', async () => {
  await page.setViewportSize(sizes.narrow);
  await button('Open navigation').click();
  await page.getByRole('dialog', { name: 'Navigation' }).waitFor();
  await look(page, 'drawer', 'narrow');
  await page.keyboard.press('Escape');
  assert.ok(await isFocused(button('Open navigation')), 'Escape closes and gives the focus back');
  await button('Open navigation').click();
  await page.getByRole('link', { name: 'People' }).click();
  await heading('People').waitFor();
  assert.equal(await page.getByRole('dialog', { name: 'Navigation' }).count(), 0);
  await page.setViewportSize(sizes.wide);
});

test('the second factor: set up, asked for at sign-in, by app or by recovery code', async () => {
  await page.goto(at('/security'));
  await heading('Security').waitFor();
  await page.getByText('This browser').waitFor();
  await look(page, 'security');
  await button('Set up').click();
  await field('Password', dialog()).fill('not the password');
  await button('Continue').click();
  await dialog().getByRole('alert').waitFor();
  await field('Password', dialog()).fill(owner.password);
  await button('Continue').click();
  await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor();
  secret = ((await page.getByTestId('totp-secret').textContent()) ?? '').replaceAll(' ', '');
  await look(page, 'second-factor-scan');
  await field('Code from the app').fill(await freshTotp(secret));
  await button('Turn on').click();
  await heading('Keep your recovery codes').waitFor();
  recoveryCodes = await page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem').allTextContents();
  assert.equal(recoveryCodes.length, 10);
  await look(page, 'second-factor-codes');
  await button('I have kept them safe').click();
  await page.getByText('On', { exact: true }).waitFor();

  await signOut(page);
  await signIn(owner, page);
  await heading('Second step').waitFor();
  await look(page, 'second-step');
  await field('Code').fill('000000');
  await button('Continue').click();
  await page.getByRole('alert').waitFor();
  await field('Code').fill(await freshTotp(secret));
  await button('Continue').click();
  await heading('Home').waitFor();

  await signOut(page);
  await signIn(owner, page);
  await button('Use a recovery code').click();
  await field('Recovery code').fill(recoveryCodes[0] ?? '');
  await button('Continue').click();
  await heading('Home').waitFor();
});

test('the owner invites, the guest joins, and sees no more than is theirs', async () => {
  await page.goto(at('/people'));
  await heading('People').waitFor();
  await button('Invite someone').click();
  await field('E-mail (optional)', dialog()).fill(member.email);
  await look(page, 'invite');
  await button('Make link').click();
  const link = await field('Invitation link').inputValue();
  await look(page, 'invite-link');
  await button('Done').click();
  await page.getByText('Waiting').waitFor();
  await look(page, 'people');

  await members.goto(link);
  await heading('Join this Lodge', members).waitFor();
  await field('Your name', members).waitFor();
  await look(members, 'join');
  assert.equal(await field('E-mail', members).inputValue(), member.email);
  await fillAccount(member, members);
  await button('Create account', members).click();
  await heading('Home', members).waitFor();
  await members.goto(at('/keys'));
  await members.getByText('No keys yet').waitFor();
  await look(members, 'keys-empty');
  assert.equal(await members.getByRole('link', { name: 'People' }).count(), 0);
  await members.goto(at('/people'));
  await members.getByText('For the owner').waitFor();
  await look(members, 'people-member');

  await page.getByText('Accepted').waitFor();
  await page
    .getByRole('row', { name: /Grace Hopper/ })
    .getByText('Member')
    .waitFor();

  await button('Invite someone').click();
  await button('Make link').click();
  const unused = await field('Invitation link').inputValue();
  await button('Done').click();
  await button('Delete the invitation for Anyone with the link').click();
  await button('Delete invitation').click();
  await page.getByText('The invitation is deleted.').first().waitFor();
  await page.getByText('Waiting').waitFor({ state: 'detached' });
  const other = await openBrowser(browser, faults);
  await other.goto(unused);
  await heading('This link does not work', other).waitFor();
  await other.context().close();
});

test('what was spent is shown beside its limits, which the owner sets, and a member only sees', () =>
  walkUsage({ owner: page, member: members, origin: place.url, names: { owner: owner.name, member: member.name } }));

test('a session ended elsewhere leads to sign-in and back to the page', async () => {
  const second = await openBrowser(browser, faults);
  await second.goto(at('/security'));
  await signIn(member, second);
  await heading('Security', second).waitFor();
  await members.goto(at('/security'));
  await look(members, 'sessions');
  await button(/^Sign out Chrome on Linux/, members).click();
  await members.getByText('The session has ended.').first().waitFor();
  await heading('Sign in', second).waitFor();
  await signIn(member, second);
  await heading('Security', second).waitFor();

  await button('Change password', members).first().click();
  await field('Current password', members).fill(member.password);
  await field('New password', members).fill('nanoseconds of copper wire');
  await look(members, 'password');
  await dialog(members).getByRole('button', { name: 'Change password' }).click();
  await members.getByText('Password changed. All other sessions have ended.').first().waitFor();
  await heading('Sign in', second).waitFor();
  await second.context().close();
  await members.goto(at('/keys'));
  await button('Create New Key', members).click();
  await members.keyboard.press('Escape');
});

test('what cannot be loaded says so and can be tried again', async () => {
  let fail = (): void => undefined;
  const held = new Promise<void>((resolve) => (fail = resolve));
  await page.route('**/v1/account/keys', async (route) => {
    await held;
    await route.abort();
  });
  const letEvents = await withoutEvents(page);
  await page.goto(at('/keys'));
  await page.getByText('Loading…').waitFor();
  await look(page, 'keys-loading');
  fail();
  await page.getByText('This could not be loaded').waitFor();
  await look(page, 'keys-error');
  await page.unroute('**/v1/account/keys');
  await button('Try again').click();
  await page.getByRole('table', { name: 'API keys' }).waitFor();
  await letEvents();
});

test('a reset link sets a new password and ends what was open', async () => {
  const other = await openBrowser(browser, faults);
  await other.goto(await place.resetLink(member.email));
  await field('New password', other).waitFor();
  await look(other, 'reset');
  await field('New password', other).fill('a moth in relay number 70');
  await button('Set password and sign in', other).click();
  await heading('Home', other).waitFor();
  await heading('Sign in', members).waitFor();

  await signOut(other);
  await other.goto(await place.resetLink(owner.email));
  owner.password = 'the engine weaves algebraic patterns';
  await field('New password', other).fill(owner.password);
  await button('Set password and sign in', other).click();
  await heading('Second step', other).waitFor();
  await button('Use a recovery code', other).click();
  await field('Recovery code', other).fill(recoveryCodes[1] ?? '');
  await button('Continue', other).click();
  await heading('Home', other).waitFor();
  await other.context().close();
});

test('the second factor can be turned off again', async () => {
  await page.goto(at('/security'));
  await signIn(owner, page);
  await heading('Second step').waitFor();
  await button('Use a recovery code').click();
  await field('Recovery code').fill(recoveryCodes[2] ?? '');
  await button('Continue').click();
  await heading('Security').waitFor();
  await button('Turn off').click();
  await field('Password', dialog()).fill(owner.password);
  await field('Code', dialog()).fill(recoveryCodes[3] ?? '');
  await look(page, 'second-factor-off');
  await dialog().getByRole('button', { name: 'Turn off' }).click();
  await page.getByText('Off', { exact: true }).waitFor();
});

test('no page broke the content security policy or its own code', (t) => {
  assert.deepEqual(faults, []);
  t.diagnostic(`axe ran ${looked.axe} times`);
});
