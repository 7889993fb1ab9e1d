/** The list of agents, a new one, and an agent's settings in a real browser. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Browser, Locator, Page } from 'playwright-core';
import { buttonIn, fieldIn, headingIn, isFocused, signIn, withoutEvents } from './actions.ts';
import { addAgents, goodKey, openAgentsPlace } from './agents-place.ts';
import type { AgentsPlace, SignedIn } from './agents-place.ts';
import { launch, look } from './browser.ts';

const ada = { name: 'Ada Lovelace', email: 'ada@example.test', password: 'analytical engine 1843' };

let place: AgentsPlace;
let browser: Browser;
let owner: SignedIn;
let page: Page;
/** The agent that was made in the form. */
let agentId = '';
const faults: string[] = [];

before(async () => {
  place = await openAgentsPlace();
  browser = await launch(Number(new URL(place.url).port));
  owner = await place.signedIn(browser, faults, ada, 'owner');
  page = owner.page;
  page.setDefaultTimeout(15_000);
});
after(async () => {
  await browser?.close();
  await place?.close();
});

const at = (path: string): string => place.url + path;
const button = (name: string | RegExp, within: Page | Locator = page): Locator => buttonIn(within, name);
const heading = (name: string | RegExp, within = page): Locator =>
  typeof name === 'string' ? headingIn(within, name) : within.getByRole('heading', { name });
const field = (name: string, within: Page | Locator = page): Locator => fieldIn(within, name);
const rows = (within = page): Locator => within.getByRole('table', { name: 'Agents' }).getByRole('rowheader');

test('without an agent the list leads to the first one', async () => {
  await page.goto(at('/agents'));
  await page.getByText('No agents yet').waitFor();
  await look(page, 'agents-empty');
  await page.getByRole('link', { name: 'New agent' }).click();
  await heading('New agent').waitFor();
});

test('a new agent: what is wrong is said at its field, and the code beside the form says the same', async () => {
  await page.getByRole('radio', { name: /Medium/ }).waitFor();
  await button('Create agent').click();
  await page.getByText('Enter a name.').waitFor();
  assert.ok(await isFocused(field('Name')), 'the first wrong field has the focus');
  await field('Name').fill("Ada's helper");
  await field('Provider').selectOption('House models');
  await page.getByText('A million tokens cost $3.00 in and $15.00 out.').waitFor();
  await look(page, 'create');
  await button('Create agent').click();
  await page.getByText('Enter a key of House models.').waitFor();
  await field('API key of House models').fill('sk-not-a-good-key');
  await field('Instructions (optional)').fill('Be brief.\nCost: $5, `no` tricks.');
  await field('Per day (optional)').fill('2.50');
  await button('Add label').click();
  await field('Name of label 1').fill('team');
  await field('Value of label 1').fill('support');
  await button('Create agent').click();
  await page.getByText('House models does not accept the key.').waitFor();
  assert.ok(await isFocused(field('API key of House models')));
  await look(page, 'create-refused', 'wide');
});

test('what was typed outlives a reload, but for the key; the samples are what is sent', async () => {
  await page.reload();
  await page.getByText('A million tokens cost $3.00 in').waitFor();
  assert.equal(await field('Name').inputValue(), "Ada's helper");
  assert.equal(await field('Value of label 1').inputValue(), 'support');
  assert.equal(await field('API key of House models').inputValue(), '');
  const kept = String(await page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])'));
  assert.ok(kept.includes('support') && !kept.includes('sk-not'), 'the key is nowhere');
  const expected = {
    name: "Ada's helper",
    runtime_kind: 'runtime_a',
    model: 'house/large',
    llm_keys: [{ provider: 'house', api_key: 'a secret' }],
    check_keys: true,
    size: 'medium',
    instructions: 'Be brief.\nCost: $5, `no` tricks.',
    spend_limit: { daily_usd: '2.50', action: 'block' },
    labels: { team: 'support' },
  };
  assert.deepEqual(JSON.parse(await ranByShell(await sampleOf('curl'))), expected);
  assert.match(await sampleOf('CLI'), /--llm-key house=env:HOUSE_API_KEY/);
  assert.match(await sampleOf('Python'), /"api_key": os\.environ\["HOUSE_API_KEY"\]/);
  assert.match(await sampleOf('JavaScript'), /api_key: process\.env\.HOUSE_API_KEY/);
});

test('a new agent has its channels: each asks for its tokens, and is in the samples', async () => {
  const telegram = page.getByRole('checkbox', { name: 'Telegram' });
  await telegram.check();
  await page.getByRole('checkbox', { name: 'WhatsApp' }).check();
  assert.match(await sampleOf('CLI'), /channels set .* telegram \\\n {2}--bot-token env:TELEGRAM_BOT_TOKEN\n/);
  const { channels } = JSON.parse(await ranByShell(await sampleOf('curl'))) as { channels: unknown };
  assert.deepEqual(channels, { telegram: { botToken: 'a token' }, whatsapp: {} });
  await field('API key of House models').fill(goodKey);
  await button('Create agent').click();
  await page.getByText('Enter the token of Telegram.').waitFor();
  assert.ok(await isFocused(field('Bot token of Telegram')));
  await look(page, 'create-channels');
  await telegram.uncheck();
  await page.getByRole('checkbox', { name: 'WhatsApp' }).uncheck();
});

async function sampleOf(label: string): Promise<string> {
  await page.getByRole('tab', { name: label, exact: true }).click();
  return page.getByRole('tabpanel').innerText();
}

/** The body that the sample sends, as a shell makes it. */
async function ranByShell(sample: string): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-c', `curl() { cat; }\n${sample}`], {
    env: { HOUSE_API_KEY: 'a secret', TELEGRAM_BOT_TOKEN: 'a token', PATH: process.env['PATH'] },
  });
  return stdout;
}

test('a session that ended on the way loses nothing: sign-in leads back to the draft', async () => {
  await page.context().clearCookies();
  await field('API key of House models').fill(goodKey);
  await button('Create agent').click();
  await signIn(ada, page);
  await heading('New agent').waitFor();
  assert.equal(await field('Name').inputValue(), "Ada's helper");
  await page.getByText('A million tokens cost $3.00 in').waitFor();
});

test('a made agent is waited for, and its page opens when it runs', async () => {
  await field('API key of House models').fill(goodKey);
  await button('Create agent').click();
  await page.waitForURL(/\/agents\/[a-z0-9]{12}\/chat$/);
  await heading("Ada's helper").waitFor();
  agentId = /agents\/([a-z0-9]{12})/.exec(page.url())![1]!;
  await page.goto(at('/agents/new'));
  await page.getByRole('radio', { name: /Medium/ }).waitFor();
  assert.equal(await field('Name').inputValue(), '', 'the draft is over');
});

test('a thousand agents: only what is seen is in the page, and it is found, sorted and shared by its address', async () => {
  await addAgents(place.sql, owner.accountId, 1000);
  await page.goto(at('/agents'));
  await page.getByText('1,001 agents').waitFor();
  await page.getByText('$', { exact: false }).first().waitFor();
  await look(page, 'agents');
  assert.ok((await rows().count()) < 60, `${await rows().count()} rows are in the page`);
  await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
  await page.getByRole('link', { name: 'Agent 1000', exact: true }).waitFor();

  await field('Search agents').fill('agent 777');
  await page.getByText('1 of 1,001 agents').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('q'), 'agent 777');
  await field('Search agents').fill('no such thing');
  await page.getByText('No agent fits').waitFor();
  await button('Show all agents').click();
  await page.getByText('1,001 agents').waitFor();
  assert.equal(await field('Search agents').inputValue(), '');

  await button('Spend this month').click();
  await rows().first().getByText('Agent 400').waitFor();
  await field('Runtime').selectOption('Hermes');
  await field('Label').selectOption('env=prod');
  await page.getByText('250 of 1,001 agents').waitFor();
  await page.goto(page.url());
  await rows().first().getByText('Agent 400').waitFor();
  await page.getByText('250 of 1,001 agents').waitFor();
  assert.equal(
    await page.getByRole('columnheader', { name: 'Spend this month' }).getAttribute('aria-sort'),
    'descending',
  );
});

test('many agents are started and deleted at once, and one that fails is named', async () => {
  await page.goto(at('/agents?q=agent%2099&sort=name'));
  await page.getByText('19 of 1,001 agents').waitFor();
  await page.getByRole('checkbox', { name: 'Select Agent 99', exact: true }).click();
  await page.getByRole('checkbox', { name: 'Select Agent 299' }).click({ modifiers: ['Shift'] });
  await page.getByText('3 selected').waitFor();
  await look(page, 'agents-chosen');
  // Gone for this account, which its row does not say yet.
  await place.sql.query(
    `with other as (insert into accounts (name) values ('other') returning id)
     update agents set account_id = other.id from other where agents.id = 'm00000000199'`,
  );
  await button('Start 3 agents').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Start 3 agents' }).click();
  await page.getByRole('dialog').getByRole('alert').getByText('Agent 199').waitFor();
  await heading('2 of 3 agents started').waitFor();
  await look(page, 'agents-start-failed', 'wide');
  await button('Close', page.getByRole('dialog')).last().click();
  await page
    .getByRole('row', { name: /Agent 299/ })
    .getByText('Running')
    .waitFor();

  await field('Search agents').fill('agent 398');
  await page.getByText('1 of 1,000 agents').waitFor();
  await page.getByRole('checkbox', { name: 'Select all shown agents' }).click();
  await button('Delete 1 agent').click();
  await button('Delete 1 agent', page.getByRole('dialog')).click();
  await page.getByText('Type 1, the number of agents').waitFor();
  await field('Type 1 to confirm').fill('1');
  await button('Delete 1 agent', page.getByRole('dialog')).click();
  await heading('1 agent deleted').waitFor();
  await button('Close', page.getByRole('dialog')).last().click();
  await page.getByText('0 of 999 agents').waitFor();
});

test('what happens elsewhere is seen at once, by one row that is read again', async () => {
  await page.goto(at('/agents'));
  await page.getByText('999 agents').waitFor();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const changed = await owner.call('PATCH', `/agents/${agentId}`, { name: 'Renamed elsewhere' });
  assert.equal(changed.status, 200);
  await page.getByRole('link', { name: 'Renamed elsewhere' }).waitFor();
  // A stream that a busy host cut is opened again, and then everything is read.
  if (!asked.includes('/v1/events')) {
    assert.equal(asked.filter((path) => path === '/v1/agents').length, 0, 'the list is not read again');
  }
  assert.ok(asked.includes(`/v1/agents/${agentId}`));
  page.removeAllListeners('request');
});

test('settings are saved by group, and say when they are in effect', async () => {
  await page.goto(at(`/agents/${agentId}/settings`));
  const about = page.getByRole('form', { name: 'About' });
  await field('Name', about).fill('');
  await button('Save', about).click();
  await about.getByText('Enter a name.').waitFor();
  await look(page, 'settings');
  await field('Name', about).fill('Support');
  await button('Remove label 1', about).click();
  await button('Save', about).click();
  await heading('Support').waitFor();
  await button('Save', about).waitFor({ state: 'detached' });
  const instructions = page.getByRole('form', { name: 'Instructions' });
  await field('Instructions', instructions).fill('Answer in one sentence.');
  await page.reload();
  assert.equal(await field('Instructions', instructions).inputValue(), 'Answer in one sentence.', 'kept');
  await button('Save', instructions).click();
  await button('Save', instructions).waitFor({ state: 'detached' });
  const sleep = page.getByRole('form', { name: 'Sleep' });
  await field('Sleeps after', sleep).fill('45');
  await button('Save', sleep).click();
  await button('Save', sleep).waitFor({ state: 'detached' });
  const size = page.getByRole('form', { name: 'Machine' });
  await size.getByRole('radio', { name: /Large/ }).first().check();
  await button('Save', size).click();
  await button('Save', size).waitFor({ state: 'detached' });
  const { body } = await owner.call('GET', `/agents/${agentId}`);
  assert.deepEqual(
    [
      body['name'],
      body['labels'],
      body['instructions'],
      body['size'],
      (body['lifecycle'] as Record<string, unknown>)['idle_timeout_seconds'],
    ],
    ['Support', {}, 'Answer in one sentence.', 'large', 2700],
  );
});

test('packages are named in three lists, and the card says whether they are installed', async () => {
  const packages = page.getByRole('form', { name: 'Packages' });
  await field('Python packages', packages).fill('pandas==2.3.1\nhttp://example.com/x.whl');
  await button('Save', packages).click();
  await packages.getByText('“http://example.com/x.whl” must be a name of a Python package').waitFor();
  await field('Python packages', packages).fill(' pandas==2.3.1 \n\n');
  await field('Debian packages', packages).fill('jq\nffmpeg');
  await button('Save', packages).click();
  await button('Save', packages).waitFor({ state: 'detached' });
  const { body } = await owner.call('GET', `/agents/${agentId}`);
  assert.deepEqual(body['packages'], { apt: ['jq', 'ffmpeg'], pip: ['pandas==2.3.1'], npm: [] });
  // The guest here has no installer.
  await packages.getByText('The machine did not answer.').waitFor();
  await look(page, 'settings-packages');
  await owner.call('PATCH', `/agents/${agentId}`, { packages: { npm: ['yarn'] } });
  await packages.getByText('yarn', { exact: true }).waitFor();
  assert.equal(await field('Debian packages', packages).inputValue(), '', 'the lists of somebody else');
});

test('a change of somebody else is told before anything is saved, and nothing that was typed is lost', async () => {
  const about = page.getByRole('form', { name: 'About' });
  const instructions = page.getByRole('form', { name: 'Instructions' });
  await field('Description (optional)', about).fill('Mine');
  await owner.call('PATCH', `/agents/${agentId}`, { instructions: 'Of somebody else.' });
  // Another group changed: this one is saved all the same.
  await button('Save', about).click();
  await button('Save', about).waitFor({ state: 'detached' });
  await field('Instructions', instructions).fill('Mine, still being written.');
  await owner.call('PATCH', `/agents/${agentId}`, { instructions: 'Of somebody else again.' });
  await instructions.getByText('Somebody changed this while you were editing.').waitFor();
  await instructions.getByText('Of somebody else again.').waitFor();
  assert.equal(await field('Instructions', instructions).inputValue(), 'Mine, still being written.');
  await look(page, 'settings-conflict');
  await button('Keep mine', instructions).click();
  await button('Save', instructions).click();
  await button('Save', instructions).waitFor({ state: 'detached' });
  const { body } = await owner.call('GET', `/agents/${agentId}`);
  assert.deepEqual([body['description'], body['instructions']], ['Mine', 'Mine, still being written.']);
});

test('an upgrade says what it does before it is done', async () => {
  await place.sql.query(`update agents set template_id = 'of-an-older-image' where id = $1`, [agentId]);
  await page.reload();
  await page.getByText('A newer version of its software is ready').waitFor();
  await button('Upgrade').click();
  await page.getByRole('dialog').getByText('the old one comes back with its memory').waitFor();
  await look(page, 'settings-upgrade', 'wide');
  await button('Cancel', page.getByRole('dialog')).click();
});

test('keys are added, checked and removed, and never shown', async () => {
  await page.getByRole('list', { name: 'Keys' }).getByText('House models').waitFor();
  await button('Replace the key of House models').click();
  await field('API key', page.getByRole('dialog')).fill('sk-wrong-key-9876');
  await look(page, 'settings-key', 'wide');
  await button('Save key').click();
  await page.getByText('House models does not accept the key.').waitFor();
  await page.getByText('Does not work').waitFor();
  assert.ok(!(await page.content()).includes('sk-wrong-key'));
  await button('Remove the key of House models').click();
  await button('Remove key', page.getByRole('dialog')).click();
  await page.getByText('No key', { exact: true }).waitFor();
});

test('an agent is deleted by its name', async () => {
  await button('Delete agent').click();
  const dialog = page.getByRole('dialog');
  await field('Type Support to confirm', dialog).fill('support');
  await button('Delete agent', dialog).click();
  await dialog.getByText('That is not its name.').waitFor();
  await look(page, 'settings-delete', 'wide');
  await field('Type Support to confirm', dialog).fill('Support');
  await button('Delete agent', dialog).click();
  await heading('Agents').waitFor();
  await page.getByText('998 agents').waitFor();
});

test('a viewer sees all of it and is offered no change', async () => {
  const grace = { name: 'Grace Hopper', email: 'grace@example.test', password: 'compilers are not magic' };
  const viewer = await place.signedIn(browser, faults, grace, 'viewer');
  viewer.page.setDefaultTimeout(15_000);
  await place.sql.query(`update agents set account_id = $1 where id in ('m00000000001', 'm00000000002')`, [
    viewer.accountId,
  ]);
  await viewer.page.goto(at('/agents'));
  await viewer.page.getByText('2 agents').waitFor();
  assert.equal(await viewer.page.getByRole('checkbox').count(), 0);
  assert.equal(await viewer.page.getByRole('link', { name: 'New agent' }).count(), 0);
  await look(viewer.page, 'agents-viewer', 'wide');
  await viewer.page.goto(at('/agents/new'));
  await viewer.page.getByText('Your role reads only.').waitFor();
  await viewer.page.goto(at('/agents/m00000000002/settings'));
  await viewer.page.getByText('Your role reads these settings.').waitFor();
  assert.ok(await field('Name', viewer.page.getByRole('form', { name: 'About' })).isDisabled());
  for (const name of ['Save', 'Add label', 'Add a key', 'Check keys', 'Delete agent'])
    assert.equal(await button(name, viewer.page).and(viewer.page.locator(':enabled')).count(), 0, name);
  await look(viewer.page, 'settings-viewer');
  await viewer.page.context().close();
});

test('a list that cannot be loaded says so and can be tried again', async () => {
  const letEvents = await withoutEvents(page);
  await page.route('**/v1/agents?*', (route) => route.abort());
  await page.goto(at('/agents'));
  await page.getByText('This could not be loaded').waitFor();
  await look(page, 'agents-error', 'wide');
  await page.unroute('**/v1/agents?*');
  await button('Try again').click();
  await page.getByText('996 agents').waitFor();
  await letEvents();
});

test('no page broke its own code or the content security policy', () => {
  assert.deepEqual(faults, []);
});
