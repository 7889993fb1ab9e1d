/** The two ways in which a person uses the pages: with a mouse, and with the keyboard alone. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';

export interface WalkHands {
  readonly name: string;
  press(what: Locator): Promise<void>;
  write(what: Locator, text: string): Promise<void>;
  /** Takes an option of a select by its label. */
  choose(what: Locator, label: string): Promise<void>;
  /** Takes a radio button. */
  take(what: Locator): Promise<void>;
  /** Opens a page of the open agent by its name in the navigation. */
  go(label: string): Promise<void>;
}

export const mouse = (page: Page): WalkHands => ({
  name: 'mouse',
  press: (what) => what.click(),
  write: (what, text) => what.fill(text),
  choose: async (what, label) => void (await what.selectOption({ label })),
  take: (what) => what.check(),
  go: (label) => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: label, exact: true }).click(),
});

/** Everything on a page is this many steps away at most. */
const maxSteps = 150;

export function keyboard(page: Page): WalkHands {
  const { keyboard: keys } = page;
  const isFocused = async (what: Locator): Promise<boolean> => (await what.and(page.locator(':focus')).count()) > 0;
  const reach = async (what: Locator): Promise<void> => {
    await what.waitFor();
    for (let steps = 0; steps < maxSteps; steps += 1) {
      if (await isFocused(what)) return;
      await keys.press('Tab');
    }
    assert.fail(`the keyboard does not reach ${String(what)}`);
  };
  return {
    name: 'keyboard',
    async press(what) {
      await reach(what);
      await keys.press('Enter');
    },
    async write(what, text) {
      await reach(what);
      await keys.press('Control+a');
      await keys.insertText(text);
    },
    async choose(what, label) {
      await reach(what);
      await keys.press('Home');
      const chosen = what.locator('option:checked');
      for (let steps = 0; steps < 50 && (await chosen.innerText()) !== label; steps += 1) await keys.press('ArrowDown');
      assert.equal(await chosen.innerText(), label);
    },
    async take(what) {
      // Only the chosen one of a group is a stop of the Tab key; arrows lead to the others.
      const name = String(await what.getAttribute('name'));
      await reach(page.locator(`input[type=radio][name=${JSON.stringify(name)}]:checked`));
      for (let steps = 0; steps < 10 && !(await what.isChecked()); steps += 1) await keys.press('ArrowDown');
      assert.ok(await what.isChecked());
    },
    async go(label) {
      // A terminal keeps the keys of the shell; its own key leads out.
      await keys.press('Control+Shift+ArrowUp');
      await keys.press('Control+k');
      await page.getByPlaceholder('Find a page, an agent or an action').waitFor();
      await keys.type(`this agent ${label}`);
      await page.getByRole('dialog').getByRole('option', { name: label, exact: true, selected: true }).waitFor();
      await keys.press('Enter');
    },
  };
}
