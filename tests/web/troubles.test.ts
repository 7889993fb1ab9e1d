/** Every page of the dashboard in trouble: a killed, slow or failing server, a session that ends, two tabs, and each role. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { buttonIn, fieldIn, headingIn, signIn } from './actions.ts';
import { fill, forms, placeOf } from './troubles-forms.ts';
import type { FormCase } from './troubles-forms.ts';
import { ada, openTroubles } from './troubles-place.ts';
import type { TroublePlace } from './troubles-place.ts';

let place: TroublePlace;
let page: Page;

before(async () => {
  place = await openTroubles();
  ({ page } = place);
});
after(async () => place?.close());
afterEach(async () => {
  place.proxy.clear();
  await place.proxy.up();
  await place.enter(page);
});

/** As the API answers when something breaks in it, and when somebody asks too often. */
const broken = {
  kind: 'status',
  status: 500,
  requestId: 'req_troubles500',
  body: JSON.stringify({
    error: { type: 'server_error', code: 'internal_error', message: 'Something went wrong on our side.' },
  }),
} as const;
const tooOften = {
  kind: 'status',
  status: 429,
  retryAfter: 30,
  requestId: 'req_troubles429',
  body: JSON.stringify({
    error: { type: 'rate_limit_error', code: 'rate_limit_exceeded', message: 'Too many changes. Try again in 30 s.' },
  }),
} as const;

async function isKept(form: FormCase, withSecret: boolean): Promise<void> {
  const within = placeOf(page, form);
  for (const [label, text] of Object.entries(form.texts)) {
    const field = fieldIn(within, label);
    await field.waitFor();
    assert.equal(await field.inputValue(), text, label);
  }
  for (const choice of form.choose ?? []) assert.ok(await within.getByLabel(choice).first().isChecked(), choice);
  if (form.secret === undefined) return;
  assert.equal(await fieldIn(within, form.secret[0]).inputValue(), withSecret ? form.secret[1] : '');
}

for (const form of forms) {
  test(`${form.name}: nothing typed is lost`, async () => {
    const { proxy } = place;
    const { method, path } = form.request;
    await page.goto(place.at(form.path));
    await fill(page, form);
    const within = placeOf(page, form);
    const save = buttonIn(within, form.save).last();
    const alert = within.getByRole('alert');
    for (const [fault, words, id] of [
      [broken, 'Something went wrong on our side.', 'req_troubles500'],
      [tooOften, 'Too many changes. Try again in 30 s.', 'req_troubles429'],
    ] as const) {
      proxy.fail({ fault, method, path });
      await save.click();
      await alert.getByText(words).waitFor();
      await alert.getByText(id).waitFor();
      await isKept(form, true);
    }
    await proxy.down();
    await save.click();
    await alert.getByText('Lodge cannot be reached').waitFor();
    await isKept(form, true);
    await proxy.up();
    await place.endSession(page);
    // The page may have heard of it by then, and have gone.
    await save.click({ timeout: 1_000 }).catch(() => undefined);
    await headingIn(page, 'Sign in').waitFor();
    const stored = JSON.stringify(await page.evaluate('[{ ...sessionStorage }, { ...localStorage }]'));
    if (form.secret !== undefined) assert.ok(!stored.includes(form.secret[1]), 'a secret is in the browser');
    await signIn(ada, page);
    await within.first().waitFor();
    await isKept(form, false);
    if (form.secret !== undefined) {
      await within.getByText('not kept in the browser').first().waitFor();
      await fieldIn(within, form.secret[0]).fill(form.secret[1]);
    }
    if (form.saved === undefined) return;
    const before = proxy.requests.length;
    proxy.fail({ fault: { kind: 'slow', ms: 800 }, method, path });
    await save.click();
    await save.and(page.locator('[aria-busy=true]')).waitFor();
    await save.dispatchEvent('click');
    await page.getByText(form.saved).first().waitFor();
    const sent = proxy.requests.slice(before).filter((one) => one.method === method && one.path.includes(path));
    assert.equal(sent.length, 1, 'it is sent once');
    proxy.clear();
  });
}
