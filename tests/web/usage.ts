/** The page of what was spent, its limits and the recording of calls, for an owner and a member who are signed in. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { buttonIn, fieldIn, headingIn, isFocused, withoutEvents } from './actions.ts';
import { look } from './browser.ts';

interface Walk {
  readonly owner: Page;
  readonly member: Page;
  readonly origin: string;
  readonly names: { readonly owner: string; readonly member: string };
}

const spend = '**/v1/account/spend';

export async function walkUsage({ owner, member, origin, names }: Walk): Promise<void> {
  await owner.goto(`${origin}/account/usage`);
  await headingIn(owner, 'Usage & limits').waitFor();
  await owner.getByText('Nothing spent this month').waitFor();
  await look(owner, 'usage-empty');
  await setLimits(owner, names.owner);
  await seeMeters(owner);
  await recordCalls(owner);
  await limitMember(owner, member, { origin, name: names.member });
  const letEvents = await withoutEvents(owner);
  await owner.route(spend, (route) => route.abort());
  await owner.goto(`${origin}/account/usage`);
  await owner.getByText('This could not be loaded').waitFor();
  await owner.unroute(spend);
  await buttonIn(owner, 'Try again').click();
  await owner.getByText('$120.50').waitFor();
  await letEvents();
}

async function setLimits(page: Page, name: string): Promise<void> {
  await buttonIn(page, 'Edit limits').click();
  const daily = fieldIn(page, 'Daily limit');
  assert.ok(await isFocused(daily), 'the focus is in the dialog');
  await fieldIn(page, 'Monthly limit').fill('120.50');
  for (const wrong of ['ten', '-1', '0', '05', '1.1234567']) {
    await daily.fill(wrong);
    await page.keyboard.press('Enter');
    await page.getByText('Enter an amount such as 12.50.').waitFor();
  }
  assert.ok(await isFocused(daily), 'the wrong field has the focus');
  await look(page, 'limits');
  await daily.fill('10');
  await page.keyboard.press('Enter');
  await page.getByText(`The limits of ${name} are changed.`).first().waitFor();
  await page.getByText('$120.50').waitFor();
  assert.ok(await isFocused(buttonIn(page, 'Edit limits')), 'the focus is back where it came from');
}

/** No machine is behind these pages, so nothing is spent: the amounts alone are put into the server's reply. */
async function seeMeters(page: Page): Promise<void> {
  await page.route(spend, async (route) => {
    const { daily, monthly, ...rest } = await (await route.fetch()).json();
    const json = { ...rest, daily: { ...daily, spent_usd: '8.25' }, monthly: { ...monthly, spent_usd: '120.5' } };
    await route.fulfill({ json });
  });
  await page.reload();
  const today = page.getByRole('meter', { name: 'Today' });
  assert.equal(await today.getAttribute('aria-valuetext'), '$8.25 of $10.00');
  await page.getByText('Nearly reached').waitFor();
  await page.getByText('Limit reached').waitFor();
  await look(page, 'usage');
  await page.unroute(spend);
}

async function recordCalls(page: Page): Promise<void> {
  await page.getByText('Only tokens, cost and times of each call are kept.').waitFor();
  await buttonIn(page, 'Turn on recording').click();
  await page.getByText('Model calls are recorded from now on.').first().waitFor();
  assert.ok(await isFocused(buttonIn(page, 'Turn off recording')), 'the focus stays');
  await page.reload();
  await page.getByText('Every key of yours that may see usage can read what is said.').waitFor();
  await look(page, 'recording');
  await buttonIn(page, 'Turn off recording').click();
  await page.getByText('Model calls are no longer recorded.').first().waitFor();
}

async function limitMember(owner: Page, member: Page, at: { origin: string; name: string }): Promise<void> {
  await member.goto(`${at.origin}/account/usage`);
  await owner.goto(`${at.origin}/account/people`);
  await buttonIn(owner, `Limits of ${at.name}`).click();
  await fieldIn(owner, 'Monthly limit').fill('5');
  await fieldIn(owner, 'Once a limit is reached').selectOption('pause');
  await buttonIn(owner, 'Save limits').click();
  await owner.getByText(`The limits of ${at.name} are changed.`).first().waitFor();
  await member.getByText('$5.00').waitFor();
  await member.getByText('put to sleep').waitFor();
  assert.equal(await buttonIn(member, 'Edit limits').count(), 0, 'a member only sees');
}
