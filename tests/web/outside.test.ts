/** Everything that an agent has outside, in a real browser: channels with people who write, schedules, hooks, connections, egress, ports. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import type { StubBot } from '@lodge/testkit/telegram';
import { until } from '../../packages/testkit/src/plane/plane.ts';
import { buttonIn, fieldIn, headingIn, isFocused } from './actions.ts';
import { look } from './browser.ts';
import { openOutside } from './outside-place.ts';
import type { OutsidePlace } from './outside-place.ts';

const faults: string[] = [];
let place: OutsidePlace;
let page: Page;
/** A tab of its own for WhatsApp, whose code renews itself meanwhile. */
let phones: Page;
let bot: StubBot;

before(async () => {
  place = await openOutside(faults);
  page = await place.open();
  phones = await place.open();
});
after(async () => place?.close());

const press = (name: string | RegExp, within: Page | Locator = page): Promise<void> =>
  buttonIn(within, name).first().click();
const api = (method: string, path: string, body?: object) =>
  place.client.call(method, `/agents/${place.agentId}${path}`, body);
const shown = (words: string | RegExp, within: Page | Locator = page): Promise<void> =>
  within.getByText(words).first().waitFor();

/** Words of others, to be shown as they are. */
const hostile = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>',
  '</li><svg/onload=alert(1)>',
  '[click](javascript:alert(1))',
  '{{constructor.constructor("alert(1)")()}}',
] as const;

test('WhatsApp is turned on, and shows a code to scan', async () => {
  await phones.goto(place.at('channels'));
  await headingIn(phones, 'Channels').waitFor();
  await look(phones, 'outside-channels');
  await phones.getByRole('link', { name: 'WhatsApp', exact: true }).click();
  await press('Set up WhatsApp', phones);
  await press('Show the code', phones);
  const code = phones.getByRole('img', { name: 'Code 1 to scan with WhatsApp' });
  const drawn = await code.locator('path').getAttribute('d');
  assert.ok(drawn!.length > 5_000, 'a code of many modules is drawn');
  assert.match((await api('GET', '/channels/whatsapp/pair')).body.qr, /^\S{100,}$/);
  await look(phones, 'outside-whatsapp');
});

test('Telegram is connected with a token that Telegram takes, and its refusal is told in a sentence', async () => {
  await page.goto(place.at('channels?channel=telegram'));
  await press('Set up Telegram');
  await shown('Enter the token.');
  await fieldIn(page, 'Bot token').fill('1:wrong');
  await press('Set up Telegram');
  await shown(/botToken could not be verified/, page.getByRole('alert'));
  assert.equal(await fieldIn(page, 'Bot token').inputValue(), '1:wrong', 'what was typed is still there');
  bot = place.telegram.bot({ name: 'The bot' });
  await fieldIn(page, 'Bot token').fill(bot.token);
  await press('Set up Telegram');
  await page.getByText('Connected', { exact: true }).waitFor();
  assert.equal((await page.content()).includes(bot.token), false, 'the token is nowhere on the page');
  await page.getByPlaceholder(`Stored: …${bot.token.slice(-4)}`).waitFor();
});

test('strangers appear as they write, by names that are text; one is let in and answered, one is turned away', async () => {
  for (const [index, name] of hostile.entries()) {
    bot.userWrites({ text: 'Hello', from: { id: 6_000_000_001 + index, name } });
    await page.getByText(name, { exact: true }).waitFor();
  }
  await look(page, 'outside-telegram');
  const row = (name: string) => page.getByRole('listitem').filter({ hasText: name });
  const code = await row(hostile[0]).getByRole('code').innerText();
  assert.ok(
    bot.sent.some(({ text }) => text.includes(code)),
    'the code is the one that the stranger was told',
  );
  await press('Let in', row(hostile[0]));
  await row(hostile[0]).waitFor({ state: 'detached' });
  await press('Turn away', row(hostile[1]));
  await press('Turn away', page.getByRole('dialog'));
  await row(hostile[1]).waitFor({ state: 'detached' });
  bot.userWrites({ text: 'Hello again', from: { id: 6_000_000_001, name: hostile[0] } });
  await until('the friend is answered', () => bot.sent.some(({ text }) => text === 'plum'), 60_000);
  await page.getByText('People who were let in or turned away').click();
  await row(hostile[0]).getByText('Let in').waitFor();
});

test('a test message goes to who wrote; the channel is turned off and on', async () => {
  await page.reload();
  const to = page.getByLabel('Test message');
  await to.locator('option').nth(1).waitFor({ state: 'attached' });
  await to.selectOption({ index: 1 });
  await press('Check and send');
  await shown('Telegram says that all is well. The test message is on its way.');
  await until('it came', () => bot.sent.some(({ text }) => text.includes('test message')), 60_000);
  await fieldIn(page, 'Messages of one person in an hour').fill('7');
  await press('Save settings');
  await shown('The settings of Telegram are saved.');
  await press('Turn off');
  await page.getByText('Off', { exact: true }).waitFor();
  const { access, enabled, credentials } = (await api('GET', '/channels/telegram')).body;
  assert.deepEqual([enabled, access.per_sender_hourly, Object.keys(credentials)], [false, 7, ['botToken']]);
  await press('Turn on');
  await page.getByText('Connected', { exact: true }).waitFor();
});

test('a mailbox is connected by a consent in a window of its own, which closes by itself', async () => {
  await page.goto(place.at('channels?channel=gmail'));
  await press('Set up Gmail');
  await fieldIn(page, 'Address of the mailbox (optional)')
    .or(page.getByLabel(/^Address of the mailbox/))
    .first()
    .fill('agent@example.com');
  place.google.mailbox('agent@example.com');
  const opening = page.context().waitForEvent('page');
  await press('Connect mailbox');
  const consent = await opening;
  await consent.getByRole('button', { name: /^Agree|^Allow|^Yes/ }).click();
  await page.getByText('Connected', { exact: true }).waitFor();
  await shown('agent@example.com');
  await until('the window is closed', () => consent.isClosed(), 10_000);
});

test('a schedule is made from plain choices, run, and shows its answer', async () => {
  await page.goto(place.at('schedules'));
  await page.getByRole('link', { name: 'New schedule' }).first().click();
  assert.ok(await isFocused(headingIn(page, 'Schedules')), 'the form is read out from its heading on');
  await fieldIn(page, 'Name').fill(hostile[2]);
  await page.getByLabel('When').selectOption('weekdays');
  await fieldIn(page, 'Time').fill('07:30');
  await page.getByLabel('Time zone').selectOption('Asia/Tokyo');
  await shown('On weekdays at 07:30, Asia/Tokyo time.');
  await press('Create schedule');
  await shown('Say what the agent is to do.');
  await page.getByLabel('What the agent is told').fill(`Say plum. ${hostile[3]}`);
  // The typed text outlives a reload.
  await page.reload();
  assert.equal(await page.getByLabel('What the agent is told').inputValue(), `Say plum. ${hostile[3]}`);
  await fieldIn(page, 'Name').fill(hostile[2]);
  await page.getByLabel('When').selectOption('weekdays');
  await fieldIn(page, 'Time').fill('07:30');
  await page.getByLabel('Time zone').selectOption('Asia/Tokyo');
  await look(page, 'outside-schedule-form');
  await press('Create schedule');
  await shown('07:30 in Asia/Tokyo');
  const [made] = (await api('GET', '/schedules')).body.data;
  assert.deepEqual([made.cron, made.time_zone, made.name], ['30 7 * * 1-5', 'Asia/Tokyo', hostile[2]]);
  await press('Run now');
  const runs = page.getByRole('list', { name: 'Runs' });
  await runs.getByText('plum', { exact: true }).waitFor();
  await runs.getByText('Answered').waitFor();
  await place.world.sql.query('update schedule_runs set answer_preview = $1', [hostile[0]]);
  await page.reload();
  await page.getByText(hostile[0], { exact: true }).waitFor();
  await shown(`Say plum. ${hostile[3]}`);
  await look(page, 'outside-schedule');
  await press('Edit');
  await page.getByLabel('When').selectOption('every');
  await page.getByLabel('Every').fill('3');
  await shown('Every 3 hours.');
  await press('Save schedule');
  await shown('Every 3 hours');
  await press('Turn off');
  await shown('None: it is off');
});

test('a hook is made, its address is shown once, and what comes to it is shown as it comes', async () => {
  await page.goto(place.at('hooks?form=add'));
  await fieldIn(page, 'Name').fill(hostile[1]);
  await page.getByLabel(/^What the agent is told/).fill(`An issue: {{issue.title}} ${hostile[0]}`);
  await press('Make one');
  const secret = await page.getByLabel('Secret that both share').inputValue();
  await press('Create hook');
  const url = await page.getByLabel('Address of the hook').inputValue();
  await press('I have kept it safe');
  await shown('Nothing came yet');
  const body = JSON.stringify({ issue: { title: hostile[4] } });
  const send = (signature: string) =>
    fetch(url.replace(place.world.origin, place.world.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-github-event': 'issues', 'x-hub-signature-256': signature },
      body,
    });
  assert.equal((await send('sha256=00')).status, 401);
  assert.equal((await send(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)).status, 202);
  await page.getByRole('list', { name: 'Messages of the hook' }).getByText('Answered').waitFor();
  await shown(`An issue: {{issue.title}} ${hostile[0]}`);
  assert.equal((await page.content()).includes(url.split('/').at(-1)!), false, 'the token is shown no more');
});

test('an HTTP service is connected with a header that is never shown again', async () => {
  await page.goto(place.at('connections'));
  await page.getByRole('link', { name: 'New connection' }).first().click();
  await fieldIn(page, 'Name').fill('notes');
  await fieldIn(page, 'Address').fill('https://api.example.com/v1');
  await page.getByLabel('Paths').fill('/notes/*');
  await fieldIn(page, 'Value of header 1').fill('Bearer very-secret-9f2c');
  await look(page, 'outside-connection-form');
  await press('Create connection');
  await shown('Authorization (…9f2c)');
  assert.equal((await page.content()).includes('very-secret'), false);
  await press('Edit');
  await page.getByLabel('POST').check();
  await press('Save connection');
  await shown('GET, POST /notes/*');
  const { headers } = (await api('GET', '/connections/notes')).body;
  assert.equal(headers.Authorization.last4, '9f2c', 'the header stays');
});

test('hosts are connected under their own names, with a secret that is never shown again', async () => {
  await page.goto(place.at('connections?form=add'));
  await page.getByLabel('Hosts by name').check();
  await fieldIn(page, 'Name').fill('code');
  await page.getByLabel('Paths').fill('/*');
  await press('Create connection');
  await shown('Enter a name, such as api.github.com.');
  await fieldIn(page, 'Hosts').fill('api.code.example\ncode.example');
  await fieldIn(page, 'Variable of secret 1').fill('CODE_TOKEN');
  await fieldIn(page, 'Value of secret 1').fill('very-secret-of-a-host-7c1d');
  await press('Create connection');
  await shown('CODE_TOKEN (…7c1d) in authorization');
  assert.equal((await page.content()).includes('very-secret'), false);
  await press('Edit');
  await page.getByLabel('POST').check();
  await fieldIn(page, 'Hosts').fill('api.code.example');
  await press('Save connection');
  await shown('GET, POST /*');
  const { hosts, secrets } = (await api('GET', '/connections/code')).body;
  assert.deepEqual([hosts, secrets.CODE_TOKEN.last4], [['api.code.example'], '7c1d'], 'the secret stays');
});

test('an MCP server is connected by a consent, and this page goes on by itself', async () => {
  await page.goto(place.at('connections?form=add'));
  await page.getByLabel('MCP server').check();
  await fieldIn(page, 'Name').fill('tracker');
  await fieldIn(page, 'Address').fill(place.oauth.url);
  await page.getByLabel('By OAuth').check();
  await press('Create connection');
  await shown('Somebody must consent before the agent has the tools.');
  const opening = page.context().waitForEvent('page');
  await press('Give consent');
  const consent = await opening;
  await consent.getByRole('button', { name: /^Agree|^Allow|^Yes/ }).click();
  await page.getByText('Connected', { exact: true }).waitFor();
  await until('the window is closed', () => consent.isClosed(), 10_000);
  await look(page, 'outside-connection');
});

test('an HTTP service by OAuth: its authorization server is named, and its secret is never shown again', async () => {
  await page.goto(place.at('connections?form=add'));
  await page.getByLabel('HTTP service').check();
  await fieldIn(page, 'Name').fill('calendar');
  await fieldIn(page, 'Address').fill('https://api.example.com/calendar');
  await page.getByLabel('By OAuth').check();
  await page.getByLabel('GET').check();
  await fieldIn(page, 'Paths').fill('/*');
  await fieldIn(page, 'Authorization address').fill('https://auth.example.com/authorize?access_type=offline');
  await fieldIn(page, 'Token address').fill('https://auth.example.com/token');
  await press('Create connection');
  await shown('Enter the id of your client.');
  await fieldIn(page, 'Client id').fill('by-hand');
  await fieldIn(page, 'Client secret').fill('very-secret-of-a-client-9f2c');
  await press('Create connection');
  await shown('Somebody must consent before the agent can use it.');
  await shown('https://auth.example.com');
  await press('Edit');
  await page.getByLabel('Send the secret in the body').check();
  await press('Save connection');
  await until('it is saved', async () => (await api('GET', '/connections/calendar')).body.auth.client_auth !== null);
  const { auth } = (await api('GET', '/connections/calendar')).body;
  assert.deepEqual(
    [auth.client_id, auth.client_secret.last4, auth.token_url, auth.client_auth],
    ['by-hand', '9f2c', 'https://auth.example.com/token', 'client_secret_post'],
  );
  assert.equal((await page.content()).includes('very-secret'), false);
});

test('a name that was refused is allowed by one click', async () => {
  await page.goto(place.at('egress'));
  await page.getByLabel('Only what the list names').check();
  await page.getByLabel('Allow list').fill('pypi.org');
  await press('Save rules');
  await until('they are saved', async () => (await api('GET', '')).body.egress.mode === 'allowlist');
  const none = { address: null, port: null, at: new Date() };
  place.world.host.refuse(
    place.agentId,
    { ...none, protocol: 'dns', name: 'tracker.example' },
    { ...none, protocol: 'dns', name: '<img/src=x/onerror=alert(1)>' },
    { protocol: 'tcp', name: null, address: '203.0.113.7', port: 443, at: new Date() },
  );
  await page.getByText('tracker.example', { exact: true }).waitFor();
  await page.getByText('<img/src=x/onerror=alert(1)>', { exact: true }).waitFor();
  await look(page, 'outside-egress');
  await press('Allow tracker.example');
  await shown('Allowed now');
  assert.deepEqual((await api('GET', '')).body.egress.allow, ['pypi.org', 'tracker.example']);
  await press('Allow <img/src=x/onerror=alert(1)>');
  await shown(/must be a host name/, page.getByRole('alert'));
});

test('a port is published, opened to all, and taken back', async () => {
  await page.goto(place.at('ports'));
  await press('Publish a port');
  await fieldIn(page, 'Port').fill('99999');
  await press('Publish port', page.getByRole('dialog'));
  await shown('Enter a number from 1 to 65535.');
  await fieldIn(page, 'Port').fill('3000');
  await press('Publish port', page.getByRole('dialog'));
  await shown('Key or link');
  await press('Make public');
  await page.getByRole('link', { name: /3000-/ }).waitFor();
  await press('Unpublish port 3000');
  await press('Unpublish', page.getByRole('dialog'));
  await shown('No port is published');
});

test('the code of WhatsApp renewed itself; the phone scans the new one, and the channel is connected', async () => {
  await phones.getByRole('img', { name: /^Code ([2-9]|\d\d) to scan/ }).waitFor();
  const account = place.whatsapp.account('15551234567', 'Concierge');
  place.whatsapp.scan(account, (await api('GET', '/channels/whatsapp/pair')).body.qr);
  await phones.getByText('Connected', { exact: true }).waitFor();
  await shown('+15551234567', phones);
});

test('a viewer is offered no change', async () => {
  await place.world.sql.query("update accounts set role = 'viewer'");
  const tabs = {
    'channels?channel=telegram': 'Known there as',
    'channels?channel=slack': 'How to set up Slack',
    schedules: hostile[2],
    'schedules?form=add': hostile[2],
    hooks: hostile[1],
    connections: 'tracker',
    'connections?connection=notes&form=edit': 'Authorization (…9f2c)',
    egress: 'tracker.example',
    ports: 'Members and the owner see the ports',
  };
  for (const [tab, words] of Object.entries(tabs)) {
    await page.goto(place.at(tab));
    await shown(words);
    // To copy out of a guide changes nothing.
    const buttons = page
      .locator('main')
      .getByRole('button')
      .filter({ hasNotText: /^Copy$/ });
    const offered = buttons.or(page.locator('main form'));
    assert.deepEqual(await offered.allInnerTexts(), [], tab);
  }
});

test('nothing broke the pages or their content security policy', () => {
  assert.deepEqual(faults, []);
});
