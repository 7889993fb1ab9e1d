/** The pages on which people talk with an agent, and see what others said to it and what it did. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { look } from './browser.ts';
import { openTalkPlace, saying, spend } from './talk-place.ts';
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
