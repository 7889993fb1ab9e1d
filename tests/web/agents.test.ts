/** The list of agents, a new one, and an agent's settings in a real browser. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Browser, Locator, Page } from 'playwright-core';
import { buttonIn, fieldIn, headingIn, isFocused } from './actions.ts';
import { addAgents, goodKey, openAgentsPlace } from './agents-place.ts';
import type { AgentsPlace, SignedIn } from './agents-place.ts';
import { launch, look } from './browser.ts';

const ada = { name: 'Ada Lovelace', email: 'ada@example.test', password: 'analytical engine 1843' };

let place: AgentsPlace;
let browser: Browser;
let owner: SignedIn;
let page: Page;
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
  await look(page, 'create-refused');
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

async function sampleOf(label: string): Promise<string> {
  await page.getByRole('tab', { name: label, exact: true }).click();
  return page.getByRole('tabpanel').innerText();
}

/** The body that the sample sends, as a shell makes it. */
async function ranByShell(sample: string): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-c', `curl() { cat; }\n${sample}`], {
    env: { HOUSE_API_KEY: 'a secret', PATH: process.env['PATH'] },
  });
  return stdout;
}

test('a made agent is waited for, and its page opens when it runs', async () => {
  await field('API key of House models').fill(goodKey);
  await button('Create agent').click();
  await page.waitForURL(/\/agents\/[a-z0-9]{12}(\/chat)?$/);
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
  await look(page, 'agents-none-fits');
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

test('many agents are started, stopped and deleted at once, and one that fails is named', async () => {
  await page.goto(at('/agents?q=agent%2099&sort=name'));
  await page.getByText('19 of 1,001 agents').waitFor();
  await page.getByRole('checkbox', { name: 'Choose Agent 99', exact: true }).click();
  await page.getByRole('checkbox', { name: 'Choose Agent 299' }).click({ modifiers: ['Shift'] });
  await page.getByText('3 chosen').waitFor();
  await look(page, 'agents-chosen');
  await button('Start 3 agents').click();
  await look(page, 'agents-start');
  await page.getByRole('dialog').getByRole('button', { name: 'Start 3 agents' }).click();
  await heading(/agents started/).waitFor();
  await look(page, 'agents-start-over');
});
