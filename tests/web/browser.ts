/** A real Chromium, and what is wanted of every page in it. */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { isLongRun } from '@lodge/testkit/forms';
import { openQuietNetwork } from './quiet-network.ts';

const executablePath = process.env['LODGE_TEST_CHROMIUM'] ?? '/usr/bin/chromium';
/** A folder for pictures of every page looked at; none without it. */
const pictures = process.env['LODGE_TEST_SCREENSHOTS'];

export const sizes = { wide: { width: 1280, height: 860 }, narrow: { width: 390, height: 844 } } as const;
/** For pictures alone. */
const vast = { width: 2560, height: 1300 };
const views = [
  { name: 'light', colorScheme: 'light', size: sizes.wide },
  { name: 'narrow-dark', colorScheme: 'dark', size: sizes.narrow },
  { name: 'dark', colorScheme: 'dark', size: sizes.wide },
  { name: 'narrow', colorScheme: 'light', size: sizes.narrow },
  { name: 'vast', colorScheme: 'light', size: vast },
  { name: 'vast-dark', colorScheme: 'dark', size: vast },
] as const;
/** Both themes and both screens are in these. */
const usual = views.slice(0, 2);

/** A browser that reaches these ports of the loopback; where the tests run as root, nothing else. */
export async function launch(...ports: readonly number[]): Promise<Browser> {
  if (process.getuid?.() !== 0) return chromium.launch({ executablePath });
  const network = await openQuietNetwork(ports);
  // Chromium refuses its own sandbox to root; the pages it opens here are ours.
  const browser = await chromium.launch({
    executablePath: await network.wrapper(executablePath),
    args: ['--no-sandbox'],
  });
  browser.on('disconnected', () => void network.close());
  return browser;
}

/** A browser of its own (cookies, storage), whose page may break neither the content security policy nor its own code. */
export async function openBrowser(browser: Browser, faults: string[]): Promise<Page> {
  const context = await browser.newContext({ viewport: sizes.wide, reducedMotion: 'reduce', locale: 'en-GB' });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.message}`));
  page.on('console', (message) => {
    const words = message.text();
    if (message.type() === 'error' && !words.startsWith('Failed to load resource')) faults.push(words);
  });
  return page;
}

/** How many times a page was examined, for the report. */
export const looked = { axe: 0 };

/**
 * The page as it is now, in the light theme on a wide screen and in the dark one on a narrow screen: nothing is wider than the
 * screen, and axe finds nothing. Looks take turns with what axe sees; the long form has both. `only` is for a thing that is on
 * one kind of screen alone: both themes are looked at there.
 */
export async function look(page: Page, name: string, only?: 'wide' | 'narrow'): Promise<void> {
  if (pictures !== undefined) await mkdir(pictures, { recursive: true });
  const looks = only === undefined ? usual : views.filter(({ size }) => size === sizes[only]);
  // One look costs a second of a processor, and the states of a page differ little: they take turns.
  const examined = isLongRun || only !== undefined ? looks : [looks[looked.axe % looks.length]!];
  for (const view of pictures !== undefined && only === undefined ? views : looks) {
    await page.emulateMedia({ colorScheme: view.colorScheme });
    await page.setViewportSize(view.size);
    // Colours are measured, so their transitions have to be over; two frames are enough with reduced motion.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))');
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}-${view.name}.png`) });
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    assert.ok(Number(overflow) <= 0, `${name} in ${view.name} is ${String(overflow)} px too wide`);
    if (!examined.includes(view)) continue;
    // Without a frame there is nothing that the newer way, which opens a page for each result, would add.
    const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
    const { violations } = await axe.analyze();
    looked.axe += 1;
    const findings = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('; ')}`);
    assert.deepEqual(findings, [], `${name} in ${view.name}`);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(only === 'narrow' ? sizes.narrow : sizes.wide);
}
