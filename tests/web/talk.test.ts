/** The pages on which people talk with an agent, and see what others said to it and what it did. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { buttonIn, fieldIn } from './actions.ts';
import { look } from './browser.ts';
import { addMessages, openTalkPlace, record, saying, spend } from './talk-place.ts';
import type { TalkPlace } from './talk-place.ts';

let place: TalkPlace;
let agentId = '';

before(async () => {
  place = await openTalkPlace();
  const agent = await place.call('POST', '/agents', {
    name: 'Ada’s helper',
    model: 'anthropic/claude-sonnet-5',
    llm_keys: [{ provider: 'anthropic', api_key: 'sk-ant-test' }],
  });
  agentId = String(agent['id']);
});
after(() => place?.close());

const at = (tab: string): string => `${place.url}/agents/${agentId}/${tab}`;
const field = (): Locator => place.page.getByRole('textbox', { name: /^Message to/ });
const conversation = (): Locator => place.page.getByRole('list', { name: 'Conversation', exact: true });

test('an answer streams as Markdown, with the steps of tools as they happen, and what it cost', async () => {
  const { page, gateway } = place;
  const goOn = Promise.withResolvers<void>();
  gateway.answer = async (reply) => {
    await saying(
      { step: 'start', title: 'run tests' },
      { wait: goOn.promise },
      { step: 'end', title: 'run tests' },
      { step: 'start', id: 'call_2', title: 'read report.md', tool: 'read' },
      { step: 'end', id: 'call_2', title: 'read report.md', tool: 'read', failed: true },
      '## Result\n\nAll **12** tests pass',
      ':\n\n```ts\nconst ok = true;\n```\n\n| suite | passed |\n|---|--:|\n| unit | 12 |\n',
    )(reply);
  };
  await page.goto(at('chat'));
  await page.getByText('Talk to Ada’s helper').waitFor();
  await look(page, 'chat-empty');
  await field().fill('Run the tests');
  await field().press('Enter');
  await page.getByText('run tests').waitFor();
  await look(page, 'chat-running');
  await spend(place, agentId);
  goOn.resolve();
  await page.getByText('1 model call · 1,200 tokens · $0.0125').waitFor();
  await conversation().getByRole('heading', { name: 'Result' }).waitFor();
  await conversation().getByRole('cell', { name: '12' }).waitFor();
  await page.getByText('failed', { exact: true }).waitFor();
  await look(page, 'chat');
  assert.equal(await field().inputValue(), '');
  assert.match(page.url(), /conversation=web-/);
});

test('messages of the channels: what came, its state and why, the answer; a failed one is tried again', async () => {
  const { page } = place;
  await page.goto(at('messages'));
  await page.getByText('Nothing came yet').waitFor();
  await look(page, 'messages-empty');
  await addMessages(place, agentId);
  await page.reload();
  await page.getByText('Where is my parcel?').waitFor();
  await look(page, 'messages');
  await page.getByRole('combobox', { name: 'State' }).selectOption('Failed');
  await page.getByText('Where is my parcel?').waitFor({ state: 'detached' });
  assert.match(page.url(), /state=failed$/);
  await page.reload();
  await buttonIn(page, 'Try again').click();
  await page.getByText('The message is taken up again.').first().waitFor();
  await page.getByText('No message is like that').waitFor();
  await page.getByRole('link', { name: 'Show all messages' }).click();
  await page.getByRole('combobox', { name: 'State' }).selectOption('Not known');
  await buttonIn(page, 'Try again').click();
  await look(page, 'messages-again');
  await buttonIn(page.getByRole('dialog'), 'Cancel').click();
});

test('a conversation on a channel is read in the chat', async () => {
  const { page } = place;
  await page.goto(at('messages'));
  await page.getByRole('link', { name: 'Whole conversation' }).last().click();
  await page.getByText('It goes on there.').or(page.getByText('goes on there')).first().waitFor();
  await look(page, 'chat-channel');
});

test('activity: events and model calls in time, filtered by kind; a recorded call shows what was said', async () => {
  const { page } = place;
  await spend(place, agentId, { outcome: 'provider_error', status: 500, costUsd: null });
  await record(place, agentId);
  await page.goto(at('activity'));
  await page.getByText('Worked with its models').first().waitFor();
  await look(page, 'activity');
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('Machine');
  await page.getByText('Worked with its models').first().waitFor({ state: 'detached' });
  assert.match(page.url(), /kind=machine$/);
  await page.getByText('Runs for the first time').waitFor();
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('Turns and model calls');
  await page
    .getByText(/model calls/)
    .last()
    .click();
  await look(page, 'activity-calls');
  await page.getByRole('button', { name: /claude-recorded/ }).click();
  await page.getByText('"What is the capital?"').waitFor();
  await look(page, 'activity-call');
  assert.match(page.url(), /call=/);
  await page.keyboard.press('Escape');
});

test('members are added, changed and removed, and are spoken to', async () => {
  const { page, gateway } = place;
  await page.goto(at('members'));
  await page.getByText('No members yet').waitFor();
  await look(page, 'members-empty');
  await buttonIn(page, 'Add member').click();
  await buttonIn(page.getByRole('dialog'), 'Add member').click();
  await page.getByText('Use 2 to 32 lower case letters').waitFor();
  await fieldIn(page, 'Name').fill('researcher');
  await page.getByLabel(/^Instructions/).fill('Look things up.');
  await look(page, 'members-add');
  await buttonIn(page.getByRole('dialog'), 'Add member').click();
  await page.getByText('Look things up.').waitFor();
  await buttonIn(page, 'Edit researcher').click();
  await page.getByLabel(/^Instructions/).fill('Look things up, with sources.');
  await buttonIn(page, 'Save changes').click();
  await page.getByText('with sources').waitFor();
  await look(page, 'members');
  gateway.answer = saying('From the researcher.');
  await page.getByRole('link', { name: 'Talk to researcher' }).click();
  await page.getByRole('textbox', { name: 'Message to researcher' }).fill('Who are you?');
  await page.keyboard.press('Enter');
  await conversation().getByText('From the researcher.').waitFor();
  assert.match(JSON.stringify(gateway.requests.at(-1)), /researcher/);
  await page.goto(at('members'));
  await buttonIn(page, 'Remove researcher').click();
  await buttonIn(page, 'Remove member').click();
  await page.getByText('No members yet').waitFor();
});

test('no page broke its own rules, and nothing was asked of another host', () => {
  assert.deepEqual(place.faults, []);
  assert.deepEqual(place.strayed, []);
});
