/** The page of an agent's skills in a real browser. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Lodge } from '@lodge/sdk';
import type { OpenedLodge } from '@lodge/testkit/lodge';
import { openLodge } from '@lodge/testkit/lodge';
import type { Browser, Page } from 'playwright-core';
import { skillOf, zipOf } from '../../packages/skills/src/testing/archives.ts';
import { buttonIn, fieldIn, fillAccount } from './actions.ts';
import { launch, look, openBrowser } from './browser.ts';
import { buildPages } from './place.ts';

let lodge: OpenedLodge;
let sdk: Lodge;
let browser: Browser;
let page: Page;
const faults: string[] = [];
let origin = '';

before(async () => {
  [lodge] = await Promise.all([openLodge({}), buildPages()]);
  origin = new URL(lodge.baseUrl).origin;
  sdk = new Lodge({ baseUrl: lodge.baseUrl, apiKey: lodge.firstKey!.plaintext });
  browser = await launch(Number(new URL(origin).port));
  page = await openBrowser(browser, faults);
  await page.goto(lodge.ownerLink!.url(origin));
  await fillAccount({ name: 'Ada Lovelace', email: 'ada@example.test', password: 'analytical engine 1843' }, page);
  await buttonIn(page, 'Finish set-up').click();
  await page.waitForURL(`${origin}/`);
});
after(async () => {
  await browser?.close();
  await lodge?.close();
});

test('an agent is given a skill, which is shown as its machine has it, changed, disabled and taken away', async () => {
  for (const more of ['one', 'two']) await sdk.skills.addArchive(zipOf(skillOf({ path: 'a', content: more })));
  const { id } = await sdk.agents.create({ name: 'Skilled', runtime_kind: 'runtime_a' });
  await sdk.members.create(id, { name: 'scout' });
  await page.goto(`${origin}/agents/${id}/skills`);
  await page.getByText('No skills yet').waitFor();
  await buttonIn(page, 'Give a skill').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('option', { name: '2' }).waitFor({ state: 'attached' });
  await fieldIn(dialog, 'Version').selectOption('1');
  await dialog.getByRole('radio', { name: 'Some of them' }).check();
  await dialog.getByRole('checkbox', { name: 'The agent itself' }).uncheck();
  await buttonIn(dialog, 'Give skill').click();
  await dialog.getByText('Choose who has it.').waitFor();
  await dialog.getByRole('checkbox', { name: 'scout' }).check();
  await buttonIn(dialog, 'Give skill').click();
  const skills = page.getByRole('table', { name: 'Skills' });
  await skills.getByText('scout', { exact: true }).waitFor();
  const given = await sdk.agentSkills.get(id, 'notes');
  assert.deepEqual([given.version, given.members, given.enabled], [1, ['scout'], true]);
  await look(page, 'agent-skills');

  await buttonIn(skills, 'Disable notes').click();
  await skills.getByText('Disabled', { exact: true }).waitFor();
  await buttonIn(skills, 'Change notes').click();
  await fieldIn(dialog, 'Version').selectOption('Each new one');
  await dialog.getByRole('radio', { name: 'The agent and all its members' }).check();
  await buttonIn(dialog, 'Save changes').click();
  await skills.getByText('2, each new one').waitFor();
  const changed = await sdk.agentSkills.get(id, 'notes');
  assert.deepEqual([changed.version, changed.members, changed.enabled], ['latest', null, false]);
  // A change from elsewhere shows without a reload.
  await sdk.agentSkills.put(id, 'notes', { members: ['scout'] });
  await skills.getByText('scout', { exact: true }).waitFor();
  await buttonIn(skills, 'Remove notes').click();
  await buttonIn(dialog, 'Remove skill').click();
  await page.getByText('No skills yet').waitFor();
  await sdk.skills.delete('notes');
  assert.deepEqual(faults, [], 'the page broke neither its code nor its policy');
});
