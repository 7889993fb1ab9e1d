/**
 * The dashboard with real agents in real machines, in a real browser: an OpenClaw with a mouse, a Hermes with the keyboard
 * alone. Nobody in it has an API key. The model's provider and the platforms are stubs.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { isLongRun } from '@lodge/testkit/forms';
import { startTelegramStub } from '@lodge/testkit/telegram';
import { startWhatsAppStub } from '@lodge/testkit/whatsapp';
import type { Browser, Page } from 'playwright-core';
import { buttonIn, fillAccount } from '../../../tests/web/actions.ts';
import { launch, openBrowser } from '../../../tests/web/browser.ts';
import { buildPages } from '../../../tests/web/place.ts';
import { keyboard, mouse } from '../../../tests/web/walk/hands.ts';
import * as walks from '../../../tests/web/walk/walk.ts';
import type { WalkOf } from '../../../tests/web/walk/walk.ts';
import { hermes, openclaw } from './subjects.ts';
import type { Subject } from './subjects.ts';
import { openWorld, templateTimeoutMs } from './world.ts';
import type { World } from './world.ts';

const walkMs = 20 * 60_000;
const turnMs = 5 * 60_000;
let world: World;
let telegram: Awaited<ReturnType<typeof startTelegramStub>>;
let whatsapp: Awaited<ReturnType<typeof startWhatsAppStub>>;
let browser: Browser;
let page: Page;
const faults: string[] = [];

before(
  async () => {
    await buildPages();
    telegram = await startTelegramStub();
    whatsapp = await startWhatsAppStub();
    world = await openWorld(openclaw, {
      CONFORMANCE_RUNTIMES: `${openclaw.name},${hermes.name}`,
      LODGE_TELEGRAM_API: telegram.apiRoot,
      LODGE_WHATSAPP_URL: whatsapp.url,
      LODGE_WHATSAPP_MEDIA: whatsapp.media.url,
      LODGE_WHATSAPP_ROOT: Buffer.from(whatsapp.root).toString('hex'),
    });
    await world.service.awaitTemplate(templateTimeoutMs, openclaw.name);
    browser = await launch(Number(new URL(world.service.baseUrl).port));
    page = await openBrowser(browser, faults);
    page.setDefaultTimeout(turnMs);
  },
  { timeout: 3 * templateTimeoutMs },
);
after(async () => {
  await browser?.close();
  await world?.close();
  await telegram?.close();
  await whatsapp?.close();
});

const origin = (): string => new URL(world.service.baseUrl).origin;

test('a person makes the Lodge theirs by the link that its start printed', async () => {
  const [link] = /http\S+\/account\/setup#token=\S+/.exec(world.service.output) ?? [];
  assert.ok(link, world.service.output);
  await page.goto(link);
  await fillAccount({ name: 'Ada', email: 'ada@example.test', password: 'analytical engine 1843' }, page);
  await buttonIn(page, 'Finish set-up').click();
  await page.getByText('Your first agent').waitFor();
});

const subjects = [
  [openclaw, /^OpenClaw/, mouse],
  [hermes, /^Hermes/, keyboard],
] as const;
/** The long form has both. Hermes is quicker, and needs as much of the pages. */
for (const [subject, runtime, handsOf] of isLongRun ? subjects : subjects.slice(1)) {
  test(`a whole round with ${subject.name}, by ${handsOf.name}`, { timeout: walkMs }, async () => {
    const agent = { name: `Bess of ${subject.name}`, runtime, provider: 'stub', key: world.keys[0] };
    await play(subject, { page, hands: handsOf(page), origin: origin(), agent, turnMs }).catch(async (error: Error) => {
      const shown = await page.locator('body').innerText();
      throw new Error(
        `${error.message}\n${page.url()}\n${shown.slice(0, 3_000)}\n${world.service.output.slice(-3_000)}`,
      );
    });
  });
}

async function play(subject: Subject, walk: WalkOf): Promise<void> {
  const { llm } = world;
  llm.reset();
  const haiku = `still pond, ${randomBytes(4).toString('hex')}`;
  const id = await walks.create(walk);
  llm.script([
    { toolCalls: [subject.shell(`printf '%s' '${haiku}' > /workspace/haiku.txt`)] },
    { text: 'It is **written**.' },
  ]);
  await walks.chat(walk, 'Write a haiku into haiku.txt', 'written');
  await page
    .getByText(/haiku\.txt/)
    .first()
    .waitFor();
  await walks.edit(walk, 'haiku.txt', haiku, `${haiku}, by hand`);
  await walks.useTerminal(walk, 'cat /workspace/haiku.txt; echo', `${haiku}, by hand`);
  await walks.seeLog(walk, 'Running: made from the template');

  const bot = telegram.bot();
  await walks.connectTelegram(walk, bot.token);
  bot.userWrites({ text: 'May I?' });
  await walks.letIn(walk, 'Ann');
  llm.script([{ text: 'Welcome in.' }]);
  bot.userWrites({ text: 'Hello' });
  for (const until = Date.now() + turnMs; !bot.sent.some(({ text }) => text.includes('Welcome in.'));) {
    assert.ok(Date.now() < until, JSON.stringify(bot.sent));
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const account = whatsapp.account(`1555100000${subject === openclaw ? 1 : 2}`, 'Agent');
  await walks.pairWhatsApp(walk, async () => {
    const { body } = await world.service.call('GET', `/agents/${id}/channels/whatsapp/pair`);
    whatsapp.scan(account, String((body as { qr: unknown }).qr));
  });

  llm.script([{ text: 'Nothing is new.' }]);
  await walks.schedule(walk, 'Say what is new.', 'Nothing is new.');
  await walks.seeCost(walk);
  await walks.stopAndStart(walk);
  await walks.remove(walk);
  const { body } = await world.service.call('GET', '/agents');
  assert.deepEqual((body as { data: unknown[] }).data, []);
}

test('no page broke the content security policy or its own code', () => assert.deepEqual(faults, []));
