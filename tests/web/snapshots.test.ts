/** The page of an agent's snapshots in a real browser. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Lodge } from '@lodge/sdk';
import type { Agent, Snapshot } from '@lodge/sdk';
import type { OpenedLodge } from '@lodge/testkit/lodge';
import { openLodge } from '@lodge/testkit/lodge';
import { execute } from '@lodge/testkit/postgres';
import { FakeHost } from '@lodge/vm/fake';
import type { Browser, Page } from 'playwright-core';
import { plan } from '../../apps/web/src/pages/agent/snapshots/plan.ts';
import type { Plan } from '../../apps/web/src/pages/agent/snapshots/plan.ts';
import { keptWords, loadWords } from '../../apps/web/src/pages/agent/snapshots/snapshot-words.ts';
import { buttonIn, fieldIn, fillAccount, isFocused } from './actions.ts';
import { launch, look, openBrowser } from './browser.ts';
import { buildPages } from './place.ts';

const host = new FakeHost();
let lodge: OpenedLodge;
let sdk: Lodge;
let browser: Browser;
let page: Page;
let agent: Agent;
const faults: string[] = [];
let origin = '';

before(async () => {
  [lodge] = await Promise.all([openLodge({ host }), buildPages()]);
  origin = new URL(lodge.baseUrl).origin;
  sdk = new Lodge({ baseUrl: lodge.baseUrl, apiKey: lodge.firstKey!.plaintext });
  browser = await launch(Number(new URL(origin).port));
  page = await openBrowser(browser, faults);
  await page.goto(lodge.ownerLink!.url(origin));
  await fillAccount({ name: 'Ada Lovelace', email: 'ada@example.test', password: 'analytical engine 1843' }, page);
  await buttonIn(page, 'Finish set-up').click();
  await page.waitForURL(`${origin}/`);
  agent = await sdk.agents.create({ name: 'Fern', runtime_kind: 'runtime_a' });
});
after(async () => {
  await browser?.close();
  await lodge?.close();
});

const table = () => page.getByRole('table', { name: 'Snapshots' });
const dialog = () => page.getByRole('dialog');
const toasted = (words: string | RegExp) => page.getByText(words).first().waitFor();
const all = async (): Promise<readonly Snapshot[]> => (await sdk.snapshots.agent(agent.id)).data;

test('a plan is typed, and refused in words where the API would refuse it', () => {
  const off: Plan = { turns: '', time: '', keep: '10', days: '30' };
  assert.deepEqual(plan.of({ snapshots: { every_turns: null, every: null, keep: 10, keep_days: 30 } }), off);
  const right: Plan = { turns: ' 1 ', time: ' 6h ', keep: '50', days: '366' };
  assert.deepEqual(plan.patch(right), { snapshots: { every_turns: 1, every: '6h', keep: 50, keep_days: 366 } });
  const wrongIn = (values: Partial<Plan>): readonly string[] =>
    Object.entries(plan.check({ ...off, ...values })).flatMap(([name, problem]) => (problem === undefined ? [] : name));
  for (const time of ['', '5m', '366d', '8784h']) assert.deepEqual(wrongIn({ time }), [], time);
  for (const time of ['4m', '367d', '1w', '0h', '5', 'h', '-5m', '1.5h'])
    assert.deepEqual(wrongIn({ time }), ['time'], time);
  assert.deepEqual(wrongIn({ turns: '101', keep: '51', days: '' }), ['turns', 'keep', 'days']);
  assert.deepEqual(wrongIn({ turns: '0', keep: '0', days: '367' }), ['turns', 'keep', 'days']);
});

test('a snapshot is told by the parts that load, and by how long it is kept', () => {
  assert.equal(loadWords({ memory: true, loads: 'memory' }), 'Memory and disk');
  assert.equal(loadWords({ memory: false, loads: 'disk' }), 'Disk alone');
  assert.match(loadWords({ memory: true, loads: 'disk' }), /cannot load its memory/);
  const kept = (part: Partial<Snapshot>) => keptWords({ pinned: false, expires_at: null, status: 'ready', ...part });
  assert.deepEqual(
    [kept({}), kept({ pinned: true }), kept({ status: 'failed' })],
    ['With the agent', 'Beyond the agent', 'For a day'],
  );
  assert.match(kept({ pinned: true, expires_at: '2099-01-31T12:00:00.000Z' }), /^Until .*2099/);
});

test('an agent is saved by the keyboard, its snapshot is renamed, pinned and deleted', async () => {
  await page.goto(`${origin}/agents/${agent.id}/snapshots`);
  await page.getByText('No snapshots yet').waitFor();
  await buttonIn(page, 'Save now').focus();
  await page.keyboard.press('Enter');
  assert.ok(await isFocused(fieldIn(dialog(), 'Name (optional)')));
  await page.keyboard.type('<img src=x onerror=alert(1)>');
  await look(page, 'snapshot-form');
  await page.keyboard.press('Enter');
  await toasted('The snapshot is saved.');
  const hostile = '“<img src=x onerror=alert(1)>”';
  await table().getByText('<img src=x onerror=alert(1)>').waitFor();
  await table().getByText('Memory and disk').waitFor();
  await buttonIn(table(), `Change ${hostile}`).click();
  await fieldIn(dialog(), 'Name (optional)').fill('Good');
  await fieldIn(dialog(), 'Note (optional)').fill('All tests pass.');
  await buttonIn(dialog(), 'Save changes').click();
  await table().getByText('All tests pass.').waitFor();
  await buttonIn(table(), 'Pin “Good”').click();
  await table().getByText('Beyond the agent').waitFor();
  const [saved] = await all();
  assert.deepEqual([saved?.name, saved?.note, saved?.pinned, saved?.memory], ['Good', 'All tests pass.', true, true]);
  // One that is made elsewhere shows without a reload.
  const other = await sdk.snapshots.create(agent.id, { name: 'From elsewhere', memory: false });
  await table().getByText('Disk alone').waitFor();
  await look(page, 'snapshots');
  await buttonIn(table(), 'Delete “From elsewhere”').click();
  assert.ok(await isFocused(buttonIn(dialog(), 'Cancel')));
  await buttonIn(dialog(), 'Delete snapshot').click();
  await toasted('The snapshot is deleted.');
  await table().getByText('From elsewhere').waitFor({ state: 'detached' });
  await assert.rejects(sdk.snapshots.get(other.id), /snapshot/i);
});

test('automatic snapshots are set, and turned off', async () => {
  const card = page.getByRole('form', { name: 'Automatic snapshots' });
  await fieldIn(card, 'After so much time (optional)').fill('1m');
  await buttonIn(card, 'Save').click();
  await card.getByText(/^Enter a time such as/).waitFor();
  await fieldIn(card, 'After so much time (optional)').fill('6h');
  await fieldIn(card, 'After so many turns (optional)').fill('1');
  await fieldIn(card, 'Kept at most').fill('20');
  await buttonIn(card, 'Save').click();
  await toasted('Automatic snapshots: saved.');
  assert.deepEqual((await sdk.agents.get(agent.id)).snapshots, {
    every_turns: 1,
    every: '6h',
    keep: 20,
    keep_days: 30,
  });
});

test('an agent goes back to a snapshot, after it is told what that does, and the present is kept', async () => {
  await buttonIn(table(), 'Go back to “Good”').click();
  await dialog()
    .getByText(/waiting messages and usage stay as they are now/)
    .waitFor();
  await look(page, 'snapshot-restore');
  await buttonIn(dialog(), 'Go back').click();
  await toasted('Fern is as it was then.');
  await table().getByText('As it was before it went back').waitFor();
  const { data } = await sdk.events.list({ agent_id: agent.id, type: 'agent.restored' });
  assert.equal(data.length, 1);
});

test('the files of a snapshot are listed with what downloads them, and compared with another', async () => {
  const files = (): Map<string, string> => host.vms.get(agent.id)!.guest.files;
  files().set('workspace/notes/today.md', 'plum').set('workspace/gone', 'x');
  await sdk.snapshots.create(agent.id, { name: 'Full' });
  files().delete('workspace/gone');
  files().set('workspace/notes/today.md', 'plum tart').set('workspace/<b>new', 'y');
  await sdk.snapshots.create(agent.id, { name: 'Later' });
  await buttonIn(table(), 'Files of “Full”').click();
  const [full] = (await all()).filter(({ name }) => name === 'Full');
  await look(page, 'snapshot-files');
  await buttonIn(dialog(), 'notes').click();
  const link = dialog().getByRole('link', { name: 'Download today.md' });
  assert.equal(await link.getAttribute('href'), `/v1/snapshots/${full!.id}/files/notes/today.md`);
  await buttonIn(dialog(), 'workspace').click();
  await dialog().getByRole('link', { name: 'Download gone' }).waitFor();
  await fieldIn(dialog(), 'How it differs from').selectOption({ label: '“Later”' });
  await buttonIn(dialog(), 'Compare').click();
  const changes = dialog().getByRole('list', { name: 'Changes' });
  await changes.waitFor();
  const told = await changes.getByRole('listitem').allInnerTexts();
  assert.deepEqual(
    told.map((text) => text.split(/\s+/).slice(0, 2).join(' ')),
    ['Added <b>new', 'Removed gone', 'Changed notes/today.md'],
  );
  await look(page, 'snapshot-differences');
  await page.keyboard.press('Escape');
});

test('the last turn is undone after a question, which says when there is nothing to go back to', async () => {
  await buttonIn(page, 'Undo last turn').click();
  await dialog().getByRole('heading', { name: 'Undo the last turn of Fern?' }).waitFor();
  assert.ok(await isFocused(buttonIn(dialog(), 'Cancel')));
  await buttonIn(dialog(), 'Undo last turn').click();
  await dialog().getByRole('alert').getByText('The agent has no snapshot from before its last turn.').waitFor();
  await execute(lodge.connectionString, `update agents set turns = turns + 1 where id = '${agent.id}'`);
  await buttonIn(dialog(), 'Undo last turn').click();
  await dialog().waitFor({ state: 'detached' });
  assert.equal((await sdk.events.list({ agent_id: agent.id, type: 'agent.restored' })).data.length, 2);
});

test('forks are made of a snapshot and of the agent as it is, and a refusal is told in words', async () => {
  await buttonIn(table(), 'Fork from “Good”').click();
  await fieldIn(dialog(), 'How many').fill('21');
  await buttonIn(dialog(), 'Make forks').click();
  await dialog().getByText('Enter 1 to 20.').waitFor();
  await fieldIn(dialog(), 'How many').fill('2');
  await look(page, 'snapshot-fork');
  await buttonIn(dialog(), 'Make forks').click();
  await dialog().getByRole('heading', { name: '2 forks are made' }).waitFor();
  await buttonIn(dialog(), 'Close').last().click();
  await buttonIn(page, 'Fork').first().click();
  await fieldIn(dialog(), 'Name (optional)').fill('Willow');
  await buttonIn(dialog(), 'Make forks').click();
  await dialog().getByRole('link', { name: 'Willow' }).click();
  await page.waitForURL(/\/chat/);
  const made = (await sdk.agents.list()).data.filter(({ forked_from: from }) => from?.agent_id === agent.id);
  assert.deepEqual(made.map(({ name }) => name).toSorted(), ['Fern fork 1', 'Fern fork 2', 'Willow']);
  await page.goBack();
  await buttonIn(table(), 'Go back to “Good”').click();
  const good = (await all()).find(({ name }) => name === 'Good');
  await sdk.snapshots.delete(good!.id);
  await buttonIn(dialog(), 'Go back').click();
  await dialog().getByRole('alert').getByText('The account has no such snapshot.').waitFor();
  assert.deepEqual(faults, [], 'the page broke neither its code nor its policy');
});
