/** Looks at pages that are made only for a person who wants pictures (LODGE_TEST_SCREENSHOTS). */
import type { Page } from 'playwright-core';
import { look, sizes } from './browser.ts';

/** A look at a state that differs little from one that is always looked at. */
export const peek = (page: Page, name: string): Promise<void> =>
  process.env['LODGE_TEST_SCREENSHOTS'] === undefined ? Promise.resolve() : look(page, name);

/** A picture on a very wide screen. */
export async function widest(page: Page, name: string): Promise<void> {
  const folder = process.env['LODGE_TEST_SCREENSHOTS'];
  if (folder === undefined) return;
  await page.setViewportSize({ width: 2560, height: 1300 });
  await page.screenshot({ path: `${folder}/${name}-widest.png` });
  await page.setViewportSize(sizes.wide);
}
