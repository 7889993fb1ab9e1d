/** The pages on which people talk with an agent, and see what others said to it and what it did. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { answerJson } from '../../packages/testkit/src/leaf/stub-gateway.ts';
import { buttonIn, fieldIn, signOut } from './actions.ts';
import { look } from './browser.ts';
import { peek, widest } from './pictures.ts';
import { badElements, badLinks, bombs, hostileMarkdown, hostileNames, storableNames } from './talk-hostile.ts';
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
const say = async (words: string): Promise<void> => {
  await field().fill(words);
  await field().press('Enter');
};
const conversation = (): Locator => place.page.getByRole('list', { name: 'Conversation', exact: true });

/** Nothing of what was shown ran, was loaded, or leads anywhere but where it says. */
async function nothingBad(): Promise<void> {
  const { page, faults, strayed } = place;
  assert.equal(await page.evaluate('window.hacked'), undefined);
  assert.deepEqual(await page.evaluate(badElements), []);
  assert.deepEqual(await page.evaluate(badLinks), []);
  assert.deepEqual(strayed, []);
  assert.deepEqual(faults, []);
}

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
  await peek(page, 'chat-empty');
  await field().fill('Run the tests');
  await field().press('Enter');
  await page.getByText('run tests').waitFor();
  await peek(page, 'chat-running');
  await spend(place, agentId);
  goOn.resolve();
  await page.getByText('1 model call · 1,200 tokens · $0.0125').waitFor();
  await conversation().getByRole('heading', { name: 'Result' }).waitFor();
  await conversation().getByRole('cell', { name: '12' }).waitFor();
  await page.getByText('failed', { exact: true }).waitFor();
  await look(page, 'chat');
  await widest(page, 'chat');
  assert.equal(await field().inputValue(), '');
  assert.match(page.url(), /conversation=web-/);
});

test('a draft outlives a reload, and so does what was said', async () => {
  const { page } = place;
  await field().fill('Half a thought');
  await page.reload();
  await conversation().getByRole('heading', { name: 'Result' }).waitFor();
  await page.getByText('1 model call · 1,200 tokens · $0.0125').waitFor();
  assert.equal(await field().inputValue(), 'Half a thought');
  await field().press('Shift+Enter');
  await field().press('x');
  assert.equal(await field().inputValue(), 'Half a thought\nx');
  await field().fill('');
});

test('a turn is stopped by its reader, and the agent hears of it', async () => {
  const { page, gateway } = place;
  gateway.answer = saying('The first words', { wait: new Promise(() => undefined) });
  await say('Count to a million');
  await conversation().getByText('The first words').waitFor();
  await page.getByRole('form', { name: 'Message' }).getByRole('button', { name: 'Stop' }).click();
  await page.getByText('You stopped it here.').waitFor();
  await gateway.requests.at(-1)!.closed;
  await conversation().getByText('The first words').waitFor();
});

test('a failure is told at its place, and the same words are sent again', async () => {
  const { page, gateway } = place;
  gateway.answer = answerJson(500, { error: { message: 'inside' } });
  await say('Please try');
  await buttonIn(page, 'Try again').waitFor();
  await look(page, 'chat-failed');
  gateway.answer = saying('Now it works.');
  await buttonIn(page, 'Try again').click();
  await conversation().getByText('Now it works.').waitFor();
  assert.match(JSON.stringify(gateway.requests.at(-1)!.body), /Please try/);
  assert.equal(await conversation().getByText('Please try').count(), 1);
});

test('a connection that breaks in the midst is told, and what had come stays', async () => {
  const { page, gateway } = place;
  gateway.answer = saying('Half an answer', { wait: new Promise(() => undefined) });
  await say('Tell me all');
  await conversation().getByText('Half an answer').waitFor();
  await place.proxy.down();
  await page.getByText('The connection ended before the answer did.').waitFor();
  await conversation().getByText('Half an answer').waitFor();
  await field().fill('Typed while it is down');
  await field().press('Enter');
  await page.getByText('Lodge cannot be reached.').first().waitFor();
  await place.proxy.up();
  gateway.answer = saying('Back again.');
  await buttonIn(page, 'Try again').click();
  await conversation().getByText('Back again.').waitFor();
});

test('a page that is left in the midst of an answer keeps what had come', async () => {
  const { page, gateway } = place;
  gateway.answer = saying('Before the reload', { wait: new Promise(() => undefined) });
  await say('Tell me more');
  await conversation().getByText('Before the reload').waitFor();
  await page.reload();
  await conversation().getByText('Before the reload').waitFor();
  await page.getByText('The connection ended before the answer did.').last().waitFor();
});

test('an agent that sleeps is woken by a message, and that is said before', async () => {
  const { page, gateway } = place;
  await place.call('POST', `/agents/${agentId}/pause`, {});
  await page.getByText('Your message wakes it.').waitFor();
  gateway.answer = saying('Good morning.');
  await say('Wake up');
  await conversation().getByText('Good morning.').waitFor();
  await page.getByText('Enter sends, Shift+Enter begins a line.').waitFor();
});

test('files go into the workspace with a message, and come out by links of the answer', async () => {
  const { page, gateway } = place;
  const report = { name: 'my report.md', mimeType: 'text/markdown', buffer: Buffer.from('# Report') };
  await page.getByLabel('Files for the workspace').setInputFiles(report);
  // It is not sent before the file has come in.
  await page.getByRole('button', { name: 'Remove my report.md' }).waitFor();
  await page.getByText('is being uploaded').waitFor({ state: 'detached' });
  let path = '';
  gateway.answer = async (reply) => {
    const asked = gateway.requests.findLast(({ body }) => JSON.stringify(body).includes('Read this'));
    path = /\/workspace\/(uploads\/[\w/.-]+)/.exec(JSON.stringify(asked))![1]!;
    await saying(`Here: [the report](/workspace/${path}) and [none](missing.txt)`)(reply);
  };
  await say('Read this');
  await conversation().getByRole('link', { name: 'the report' }).waitFor();
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    conversation()
      .getByRole('button', { name: `Save ${path}` })
      .last()
      .click(),
  ]);
  assert.equal(await readFile(await saved.path(), 'utf8'), '# Report');
  await conversation().getByRole('button', { name: 'Save missing.txt' }).click();
  await page.getByText('There is no such file in the workspace now.').waitFor();
  await conversation().getByRole('link', { name: 'the report' }).click();
  await page.waitForURL(/\/files\?file=/);
  await page.goBack();
});

test('conversations are named, opened and removed', async () => {
  const { page, gateway } = place;
  const list = page.getByRole('navigation', { name: 'Conversations' });
  gateway.answer = saying('Second.');
  await list.getByRole('link', { name: 'New conversation' }).click();
  await say('Another subject');
  await conversation().getByText('Second.').waitFor();
  await list.getByRole('link', { name: /^Another subject/ }).waitFor();
  await list.getByRole('button', { name: 'Rename Another subject' }).click();
  await fieldIn(page, 'Name').fill('Plans');
  await page.keyboard.press('Enter');
  await list.getByRole('link', { name: /^Plans/ }).waitFor();
  await list.getByRole('button', { name: 'Remove Plans' }).click();
  await buttonIn(page.getByRole('dialog'), 'Remove').click();
  await page.getByText('Talk to Ada’s helper').waitFor();
  await list.getByRole('link', { name: /^Run the tests/ }).click();
  await conversation().getByRole('heading', { name: 'Result' }).waitFor();
});

test('messages of the channels: what came, its state and why, the answer; a failed one is tried again', async () => {
  const { page } = place;
  await page.goto(at('messages'));
  await page.getByText('Nothing came yet').waitFor();
  await peek(page, 'messages-empty');
  await addMessages(place, agentId);
  await page.reload();
  await page.getByText('Where is my parcel?').waitFor();
  await look(page, 'messages');
  await widest(page, 'messages');
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
  await peek(page, 'messages-again');
  await buttonIn(page.getByRole('dialog'), 'Cancel').click();
});

test('a conversation on a channel is read in the chat', async () => {
  const { page } = place;
  await page.goto(at('messages'));
  await page.getByRole('link', { name: 'Whole conversation' }).last().click();
  await page.getByText('goes on there').waitFor();
  await peek(page, 'chat-channel');
});

test('activity: events and model calls in time, filtered by kind; a recorded call shows what was said', async () => {
  const { page } = place;
  await spend(place, agentId, { outcome: 'provider_error', status: 500, costUsd: null });
  await place.call('PATCH', '/account', { record_llm_calls: true });
  await record(place, agentId);
  await page.goto(at('activity'));
  await page.getByText('Worked with its models').first().waitFor();
  await look(page, 'activity');
  await widest(page, 'activity');
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('Machine');
  await page.getByText('Worked with its models').first().waitFor({ state: 'detached' });
  assert.match(page.url(), /kind=machine$/);
  await page.getByText('Runs for the first time').waitFor();
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('Turns and model calls');
  await page
    .getByText(/model calls/)
    .last()
    .click();
  await peek(page, 'activity-calls');
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
  await peek(page, 'members-empty');
  await buttonIn(page, 'Add member').click();
  await buttonIn(page.getByRole('dialog'), 'Add member').click();
  await page.getByText('Use 2 to 32 lower case letters').waitFor();
  await fieldIn(page, 'Name').fill('researcher');
  await page.getByLabel(/^Instructions/).fill('Look things up.');
  await peek(page, 'members-add');
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

test('what an agent or a stranger writes runs no script, loads nothing, and leads nowhere by itself', async () => {
  const { page, gateway } = place;
  gateway.answer = saying(
    ...hostileNames.flatMap((title, id) => [
      { step: 'start' as const, id: `h${id}`, title, tool: title },
      { step: 'end' as const, id: `h${id}`, title, tool: title },
    ]),
    hostileMarkdown.join('\n\n'),
  );
  await page.goto(at('chat'));
  await say(hostileMarkdown.join('\n'));
  await conversation().getByText('(evil.example)').first().waitFor();
  await nothingBad();
  await conversation().getByText('6 steps').click();
  await look(page, 'chat-hostile');
  await addMessages(
    place,
    agentId,
    storableNames.map((sender, index) => ({
      conversation: `h${index}`,
      sender,
      text: hostileMarkdown.join('\n'),
      answer: hostileMarkdown.join('\n\n'),
      state: 'failed' as const,
      reason: sender,
    })),
  );
  await page.goto(at('messages'));
  await page.getByText('(evil.example)').first().waitFor();
  await nothingBad();
  await peek(page, 'messages-hostile');
  await page.getByRole('link', { name: 'Whole conversation' }).first().click();
  await page.getByText('goes on there').waitFor();
  await nothingBad();
});

test('hostile links say where they lead, and pictures are links', async () => {
  const { page, gateway } = place;
  gateway.answer = saying(hostileMarkdown.join('\n\n'));
  await page.goto(at('chat'));
  await say('Links, please');
  const link = (name: string | RegExp): Locator => conversation().getByRole('link', { name });
  await link('Picture: picture').waitFor();
  const paragraph = conversation().getByRole('paragraph');
  await paragraph.filter({ hasText: /^https:\/\/bank\.example \(evil\.example\)$/ }).waitFor();
  await paragraph.filter({ hasText: /^https:\/\/bank\.example@evil\.example\/login \(evil\.example\)$/ }).waitFor();
  for (const name of ['run', 'data', 'blob', 'file', 'ref', 'relative', 'climb', 'page'])
    assert.equal(await conversation().getByRole('link', { name, exact: true }).count(), 0, `${name} is no link`);
  await conversation().getByText('A name that turns: \uFFFDgpj.exe').waitFor();
});

test('texts that would take long are shown as they are written', async () => {
  const { gateway } = place;
  for (const [index, bomb] of bombs.entries()) {
    gateway.answer = saying(bomb, `\n\nThe end of ${index}.`);
    await say(`Bomb ${index}`);
    await conversation().getByText(`The end of ${index}.`).waitFor();
    await conversation()
      .getByText(/ s$/)
      .nth(index + 1)
      .waitFor();
  }
  await nothingBad();
});

test('an agent, its events and its members may have hostile names', async () => {
  const { page, sql, accountId } = place;
  await place.call('PATCH', `/agents/${agentId}`, { name: hostileNames[1] });
  await place.call('POST', `/agents/${agentId}/members`, { name: 'other', instructions: hostileMarkdown.join('\n') });
  for (const name of hostileNames.slice(0, 4))
    await sql.query(
      `insert into events (account_id, agent_id, type, level, data, created_at)
       values ($1, $2, 'schedule.failed', 1, $3, now()), ($1, $2, 'channel.access_requested', 1, $3, now())`,
      [accountId, agentId, { name, reason: hostileMarkdown.join(' '), sender_name: name, channel: name }],
    );
  await page.goto(at('members'));
  await page.getByText('Talk to other').waitFor();
  await nothingBad();
  await page.goto(at('activity'));
  await page.getByText('asks to be let in').first().waitFor();
  await nothingBad();
  await peek(page, 'activity-hostile');
});

test('who may only read is not offered to write', async () => {
  const { page, sql, accountId } = place;
  await sql.query(`update accounts set role = 'viewer' where id = $1`, [accountId]);
  await page.goto(at('chat'));
  await page.getByText('Your role may read, and not talk to agents.').waitFor();
  assert.equal(await field().count(), 0);
  await page.goto(at('messages?state=failed'));
  await page.getByRole('link', { name: 'Whole conversation' }).first().waitFor();
  assert.equal(await buttonIn(page, 'Try again').count(), 0);
  await page.goto(at('members'));
  await page.getByRole('list', { name: 'Members' }).getByText('other').first().waitFor();
  assert.equal(await page.getByRole('button', { name: /member|other/ }).count(), 0);
  await sql.query(`update accounts set role = 'owner' where id = $1`, [accountId]);
});

test('who signs out leaves no conversation in the browser', async () => {
  const { page } = place;
  const kept = (): Promise<unknown> => page.evaluate(`Object.keys(localStorage).filter((key) => key.includes('chat'))`);
  assert.notDeepEqual(await kept(), []);
  await signOut(page);
  assert.deepEqual(await kept(), []);
});

test('no page broke its own rules, and nothing was asked of another host', () => {
  assert.deepEqual(place.faults, []);
  assert.deepEqual(place.strayed, []);
});
