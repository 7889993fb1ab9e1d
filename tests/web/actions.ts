/** People's actions on the pages, by the names that they and their screen readers see. */
import type { Locator, Page } from 'playwright-core';

type Place = Page | Locator;

export interface Person {
  readonly name: string;
  readonly email: string;
  password: string;
}

export const buttonIn = (place: Place, name: string | RegExp): Locator =>
  place.getByRole('button', { name, exact: typeof name === 'string' });
export const headingIn = (place: Place, name: string): Locator => place.getByRole('heading', { name, exact: true });
export const fieldIn = (place: Place, name: string): Locator => place.getByLabel(name, { exact: true });

/**
 * Keeps events from the pages that open next. An event, also the last one of before, has a page read again what it changed,
 * so a page that shows a failure would mend itself. Returns how to end that.
 */
export async function withoutEvents(page: Page): Promise<() => Promise<void>> {
  const events = '**/v1/events?*';
  await page.route(events, (route) => route.abort());
  return () => page.unroute(events);
}

/** Whether the focus is there, or comes there at once. */
export async function isFocused(locator: Locator): Promise<boolean> {
  const focused = locator.and(locator.page().locator(':focus'));
  return focused.waitFor({ state: 'attached', timeout: 10_000 }).then(
    () => true,
    () => false,
  );
}

export async function fillAccount(person: Person, page: Page): Promise<void> {
  await fieldIn(page, 'Your name').fill(person.name);
  const email = fieldIn(page, 'E-mail');
  if (await email.isEditable()) await email.fill(person.email);
  await fieldIn(page, 'Password').fill(person.password);
}

export async function signIn(person: Person, page: Page): Promise<void> {
  await fieldIn(page, 'E-mail').fill(person.email);
  await fieldIn(page, 'Password').fill(person.password);
  await buttonIn(page, 'Sign in').click();
}

export async function signOut(page: Page): Promise<void> {
  await buttonIn(page, /^Account: /).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await headingIn(page, 'Sign in').waitFor();
}
