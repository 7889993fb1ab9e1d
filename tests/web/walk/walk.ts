/**
 * Everything that a person does with an agent in the dashboard, from its creation to its end: README's round without a terminal. The test
 * says how the model answers, and who writes on the channels.
 */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { buttonIn, fieldIn, headingIn } from '../actions.ts';
import type { WalkHands } from './hands.ts';

export interface WalkOf {
  readonly page: Page;
  readonly hands: WalkHands;
  readonly origin: string;
  readonly agent: {
    readonly name: string;
    /** The label of the runtime's choice in the form. */
    readonly runtime: RegExp;
    readonly provider: string;
    readonly key: string;
  };
  /** A turn on an emulated processor takes its time. */
  readonly turnMs: number;
}

/** The agent's id. */
export async function create({ page, hands, origin, agent, turnMs }: WalkOf): Promise<string> {
  await page.goto(`${origin}/agents/new`);
  await hands.write(fieldIn(page, 'Name'), agent.name);
  await hands.take(page.getByRole('radio', { name: agent.runtime }));
  await hands.choose(fieldIn(page, 'Provider'), agent.provider);
  await hands.write(fieldIn(page, `API key of ${agent.provider}`), agent.key);
  await hands.take(page.getByRole('radio', { name: /^Small/ }));
  await hands.press(buttonIn(page, 'Create agent'));
  await page.waitForURL(/\/agents\/[a-z0-9]{12}\/chat$/, { timeout: turnMs });
  await headingIn(page, agent.name).waitFor();
  await page.getByText('Running', { exact: true }).waitFor({ timeout: turnMs });
  return new URL(page.url()).pathname.split('/')[2]!;
}

const main = (page: Page): Locator => page.locator('#main');

export async function chat({ page, hands, agent, turnMs }: WalkOf, ask: string, answer: string): Promise<void> {
  await hands.go('Chat');
  const composer = page.getByRole('textbox', { name: `Message to ${agent.name}` });
  await hands.write(composer, ask);
  await page.keyboard.press('Enter');
  await main(page).getByText(answer, { exact: true }).waitFor({ timeout: turnMs });
}

export async function seeLog({ page, hands }: WalkOf, words: string): Promise<void> {
  await hands.go('Logs');
  await page.getByText('Live', { exact: true }).waitFor();
  await hands.write(page.getByRole('searchbox', { name: 'Search the log' }), words);
  await page.getByRole('region', { name: 'Log' }).getByText(words).first().waitFor();
}

export async function edit({ page, hands }: WalkOf, file: string, before: string, after: string): Promise<void> {
  await hands.go('Files');
  await hands.press(page.getByRole('link', { name: file, exact: true }));
  const text = page.getByRole('textbox', { name: `Contents of ${file}` });
  await text.waitFor();
  assert.equal((await text.inputValue()).trim(), before);
  await hands.write(text, after);
  await page.keyboard.press('Control+s');
  await page.getByText('Saved', { exact: true }).waitFor();
}

export async function useTerminal({ page, hands, turnMs }: WalkOf, command: string, printed: string): Promise<void> {
  await hands.go('Terminal');
  const rows = page.locator('.xterm-rows');
  await rows.getByText(/[$#]/).first().waitFor({ timeout: turnMs });
  await page.locator('.xterm-helper-textarea').focus();
  await page.keyboard.type(command);
  await page.keyboard.press('Enter');
  await rows.getByText(printed).first().waitFor({ timeout: turnMs });
}

export async function openChannel({ page, hands }: WalkOf, title: string): Promise<void> {
  await hands.go('Channels');
  await hands.press(page.getByRole('link', { name: new RegExp(`^${title}`) }));
  await headingIn(page, title).waitFor();
}

export async function connectTelegram(walk: WalkOf, token: string): Promise<void> {
  const { page, hands, turnMs } = walk;
  await openChannel(walk, 'Telegram');
  await hands.write(page.getByRole('textbox', { name: /^Bot token/ }), token);
  await hands.press(buttonIn(page, 'Set up Telegram'));
  await page.getByText('Connected', { exact: true }).first().waitFor({ timeout: turnMs });
}

export async function letIn({ page, hands, turnMs }: WalkOf, name: string): Promise<void> {
  await page
    .getByRole('list', { name: /^People who wait/ })
    .getByText(name)
    .waitFor({ timeout: turnMs });
  await hands.press(buttonIn(page, 'Let in'));
  await page.getByText('They are let in.').first().waitFor();
}

export async function pairWhatsApp(walk: WalkOf, scan: () => Promise<void>): Promise<void> {
  const { page, hands, turnMs } = walk;
  await openChannel(walk, 'WhatsApp');
  await hands.press(buttonIn(page, 'Set up WhatsApp'));
  await hands.press(buttonIn(page, 'Show the code'));
  await page.getByRole('img', { name: /^Code/ }).waitFor();
  await scan();
  await page.getByText('Connected', { exact: true }).first().waitFor({ timeout: turnMs });
}

export async function schedule({ page, hands, turnMs }: WalkOf, told: string, answer: string): Promise<void> {
  await hands.go('Schedules');
  await hands.press(page.getByRole('link', { name: 'New schedule' }).or(buttonIn(page, 'New schedule')).first());
  await hands.write(fieldIn(page, 'Name'), 'Morning report');
  await hands.write(fieldIn(page, 'What the agent is told'), told);
  await hands.press(buttonIn(page, 'Create schedule'));
  await hands.press(buttonIn(page, 'Run now'));
  await main(page).getByText(answer).first().waitFor({ timeout: turnMs });
}

export async function seeCost({ page, hands }: WalkOf): Promise<void> {
  await hands.go('Usage');
  await main(page)
    .getByText(/\$0\.\d*[1-9]/)
    .first()
    .waitFor();
}

export async function stopAndStart({ page, hands, turnMs }: WalkOf): Promise<void> {
  await hands.press(buttonIn(page, 'Stop'));
  await page.getByText('Stopped', { exact: true }).waitFor({ timeout: turnMs });
  await hands.press(buttonIn(page, 'Start'));
  await page.getByText('Running', { exact: true }).waitFor({ timeout: turnMs });
}

export async function remove({ page, hands, agent, turnMs }: WalkOf): Promise<void> {
  await hands.go('Settings');
  await hands.press(buttonIn(page, 'Delete agent'));
  const dialog = page.getByRole('dialog');
  await hands.write(dialog.getByRole('textbox'), agent.name);
  await hands.press(dialog.getByRole('button', { name: /^Delete/ }));
  await page.waitForURL(/\/(agents)?$/, { timeout: turnMs });
}
