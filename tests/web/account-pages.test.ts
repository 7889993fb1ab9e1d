/** The pages of the account beside its keys: usage with its plots, webhooks, the audit log, limits, and the machine for its owner. */
import { after, before, test } from 'node:test';
import { Lodge } from '@lodge/sdk';
import type { OpenedLodge } from '@lodge/testkit/lodge';
import { openLodge } from '@lodge/testkit/lodge';
import type { Browser, Page } from 'playwright-core';
import { fieldIn, fillAccount, buttonIn } from './actions.ts';
import type { Person } from './actions.ts';
import { launch, look, openBrowser } from './browser.ts';
import { buildPages } from './place.ts';

const owner: Person = { name: 'Ada Lovelace', email: 'ada@example.test', password: 'analytical engine 1843' };
const dayMs = 86_400_000;

let lodge: OpenedLodge;
let sdk: Lodge;
let browser: Browser;
let page: Page;
const faults: string[] = [];
let origin = '';

before(async () => {
  [lodge] = await Promise.all([openLodge({ settings: { LODGE_REGISTRATION: 'open' } }), buildPages()]);
  origin = new URL(lodge.baseUrl).origin;
  sdk = new Lodge({ baseUrl: lodge.baseUrl, apiKey: lodge.firstKey!.plaintext });
  browser = await launch(Number(new URL(origin).port));
  page = await openBrowser(browser, faults);
  await page.goto(lodge.ownerLink!.url(origin));
  await fillAccount(owner, page);
  await buttonIn(page, 'Finish set-up').click();
  await page.waitForURL(`${origin}/`);
});
after(async () => {
  await browser?.close();
  await lodge?.close();
});

const at = (path: string): string => `${origin}${path}`;

/** Puts calls into the ledger, as the broker does when they end. */
async function spend(
  agentId: string,
  calls: readonly { model: string; daysAgo: number; usd: string }[],
): Promise<void> {
  const { id: accountId } = await sdk.account.get();
  const ledger = lodge.parts.store.ledgerOf('test');
  for (const [index, { model, daysAgo, usd }] of calls.entries()) {
    await ledger.close({
      id: `${agentId}-${model}-${daysAgo}-${index}`,
      agentId,
      accountId,
      provider: 'anthropic',
      model,
      api: 'anthropic-messages',
      startedAt: new Date(Date.now() - daysAgo * dayMs),
      durationMs: 1200,
      timeToFirstByteMs: 300,
      status: 200,
      outcome: 'ok',
      estimated: false,
      costUsd: usd,
      priceVersion: 'test',
      inputTokens: 1000 * (index + 1),
      outputTokens: 200,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      cacheWriteLongTokens: null,
      reasoningTokens: null,
      imageTokens: null,
    });
  }
}

const makeAgent = (name: string) =>
  sdk.agents.create({
    name,
    runtime_kind: 'runtime_a',
    model: 'anthropic/claude-sonnet-5',
    llm_keys: [{ provider: 'anthropic', api_key: 'sk-ant-test' }],
  });

test('usage is plotted by day, and the same figures are in a table', async () => {
  await page.goto(at('/account/usage'));
  await page.getByText('Nothing to show for these days').waitFor();
  await look(page, 'usage-empty');
  const agents = [await makeAgent('Support'), await makeAgent('Research')];
  for (const [index, { id }] of agents.entries()) {
    await spend(
      id,
      Array.from({ length: 14 }, (_, day) => ({
        model: day % 3 === index ? 'claude-opus-5' : 'claude-sonnet-5',
        daysAgo: day,
        usd: (0.4 + ((day * 7) % 5) * 0.21).toFixed(2),
      })),
    );
  }
  await page.reload();
  await buttonIn(page, 'Edit limits').click();
  await fieldIn(page, 'Monthly limit').fill('30');
  await buttonIn(page, 'Save limits').click();
  await page.getByText('Forecast').waitFor();
  await page.locator('svg.recharts-surface').nth(1).waitFor();
  await look(page, 'usage');
});
