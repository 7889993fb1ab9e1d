/** Every page of the dashboard in trouble: a killed, slow or failing server, a session that ends, two tabs, and each role. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { buttonIn, fieldIn, headingIn, signIn } from './actions.ts';
import { look } from './browser.ts';
import { fill, forms, placeOf } from './troubles-forms.ts';
import { signedInPages } from './troubles-pages.ts';
import type { FormCase } from './troubles-forms.ts';
import { ada, openTroubles } from './troubles-place.ts';
import { shared } from './troubles-tabs.ts';
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
    const isLookedAt = form.name === 'a hook' || form.name === 'a channel';
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
      if (isLookedAt && fault === broken) await look(page, `troubles-failed-${form.name.slice(2)}`);
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
    if (isLookedAt) await look(page, `troubles-back-${form.name.slice(2)}`);
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

test('a message that is being written outlives a dead server and a session that ends', async () => {
  await page.goto(place.at('$agent/chat'));
  const message = page.getByLabel(/^Message to /);
  await message.fill('A long question, nearly done');
  await place.proxy.down();
  await page.getByText('Lodge does not answer.').waitFor({ timeout: 20_000 });
  await place.proxy.up();
  await place.endSession(page);
  await headingIn(page, 'Sign in').waitFor();
  await signIn(ada, page);
  await message.waitFor();
  assert.equal(await message.inputValue(), 'A long question, nearly done');
});

for (const one of shared) {
  test(`${one.name} that is changed in two places keeps both changes`, async () => {
    const { lodge } = place;
    const agent = await lodge.agents.create({ name: 'Sage', model: 'tryout/echo' });
    await page.goto(place.at((await one.make(lodge, agent.id)).replace('$agent', `/agents/${agent.id}`)));
    if (one.open !== undefined) await buttonIn(page, one.open).click();
    const field = fieldIn(page, one.typed[0]);
    await field.fill(one.typed[1]);
    await one.other(lodge, agent.id);
    await buttonIn(page, one.save).click();
    await page.getByText(one.saved).first().waitFor();
    assert.deepEqual(await one.now(lodge, agent.id), one.want);
    await lodge.agents.delete(agent.id);
  });
}

test('rules that another tab saves neither clear the typed list nor are lost', async () => {
  const agent = await place.lodge.agents.create({ name: 'Rue', model: 'tryout/echo' });
  const address = place.at(`/agents/${agent.id}/egress`);
  const tab = await page.context().newPage();
  for (const each of [page, tab]) {
    await each.goto(address);
    await each.getByLabel('Only what the list names').check();
  }
  await fieldIn(page, 'Allow list').fill('pypi.org');
  await fieldIn(tab, 'Allow list').fill('example.com');
  await buttonIn(tab, 'Save rules').click();
  await tab.getByText('The rules are').first().waitFor();
  await tab.getByLabel('Nothing', { exact: false }).last().check();
  assert.equal(await fieldIn(page, 'Allow list').inputValue(), 'pypi.org');
  await buttonIn(page, 'Save rules').click();
  await page.getByText('The rules are').first().waitFor();
  assert.deepEqual((await place.lodge.agents.get(agent.id)).egress, { mode: 'allowlist', allow: ['pypi.org'] });
  await tab.close();
  await place.lodge.agents.delete(agent.id);
});

/** Controls that change nothing of an agent: reading, sorting, searching, and what is the person's own. */
const harmless =
  /^(Name|Status|Model|Last active|Spend this month|Wrap lines|Copy lines|Download|Download all|Download CSV|Jump|Follow|Stop following|Read the folder again|Search.*|Runtime|Order|Kind|Channel|State|Level|Source|Time to jump to|Period|By|Show|What|Who|Create New Key|Revoke .*|Change password|Set up|Read the terminal aloud.*|Add another code|Conversations|)$/;
/** The names of everything that can be used on the page. */
const namesOfControls = `[...document.querySelectorAll(
  'main :is(button, textarea, select):enabled, main input:enabled:not([readonly])',
)].map((one) => one.ariaLabel ?? one.labels?.[0]?.textContent ?? one.textContent)`;
const offers = /^(New|Add|Create|Connect|Edit|Talk|Make|Choose everything)\b/;

for (const role of ['viewer', 'member'] as const) {
  test(`a ${role} reads every page, and is offered nothing that the role may not do`, async () => {
    const { page: own, at } = await place.newPerson(role === 'viewer' ? 'vera' : 'marius', role);
    for (const { path, heading } of signedInPages) {
      await own.goto(at(path));
      const main = own.locator('main');
      await main.getByRole('heading', { name: heading, exact: true }).first().waitFor();
      await main.getByText('Loading…').first().waitFor({ state: 'detached' });
      assert.deepEqual(await own.getByRole('alert').allInnerTexts(), [], path);
      if (role === 'member') continue;
      const names = (await own.evaluate(namesOfControls)) as readonly string[];
      assert.deepEqual(
        names.filter((name) => !harmless.test(name.trim())),
        [],
        path,
      );
      const links = await main.getByRole('link').allInnerTexts();
      assert.deepEqual(
        links.filter((name) => offers.test(name)),
        [],
        path,
      );
    }
    if (role === 'viewer') return;
    await own.goto(at('/account/usage'));
    await headingIn(own, 'Recording').waitFor();
    assert.equal(await buttonIn(own, 'Edit limits').count(), 0);
    await own.goto(at('/account/people'));
    await own.getByText('Only the owner of this Lodge sees who is on it').waitFor();
  });
}

const patience = { timeout: 20_000 };
/** The shift of what is on the page already, as the browser measures it. People begin to notice at 0.1. */
const shiftOfLayout = `new Promise((done) => {
  new PerformanceObserver((list) =>
    done(list.getEntries().filter((one) => !one.hadRecentInput).reduce((sum, one) => sum + one.value, 0)),
  ).observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => done(0), 100);
})`;

const perRound = 6;
/** One for each page of a round: a browser opens only a few connections to one server. */
const browsers: Page[] = [];
const rounds = Array.from({ length: Math.ceil(signedInPages.length / perRound) }, (_, round) =>
  signedInPages.slice(round * perRound, (round + 1) * perRound),
);
for (const pages of rounds) {
  test(`slow, then dead, then back: ${pages.map(({ heading }) => heading).join(', ')}`, async (t) => {
    const { proxy } = place;
    proxy.fail({ fault: { kind: 'slow', ms: 500 }, path: '/v1/', times: 1_000 });
    const tabs = await Promise.all(
      pages.map(async ({ path, heading }, index) => {
        const tab = (browsers[index] ??= await place.another('owner'));
        await tab.goto(place.at(path));
        await tab.locator('.animate-pulse').first().waitFor();
        const main = tab.locator('main');
        const title = main.getByRole('heading', { name: heading, exact: true }).first();
        await title.waitFor();
        await main.locator('.animate-pulse').first().waitFor({ state: 'detached' });
        const shift = Number(await tab.evaluate(shiftOfLayout));
        if (shift > 0.02) t.diagnostic(`${path} CLS ${shift.toFixed(3)}`);
        assert.ok(shift <= 0.1, `${path} shifts by ${shift}`);
        await tab.evaluate('window.sameDocument = true');
        return { tab, path, title };
      }),
    );
    proxy.clear();
    await proxy.down();
    await Promise.all(
      tabs.map(async ({ tab, title }) => {
        await tab.getByText('Lodge does not answer.').waitFor(patience);
        await title.waitFor();
      }),
    );
    await proxy.up();
    await Promise.all(
      tabs.map(async ({ tab, path, title }) => {
        await tab.getByText('Lodge does not answer.').waitFor({ state: 'detached', ...patience });
        await title.waitFor();
        await tab.getByText('This could not be loaded').first().waitFor({ state: 'detached' });
        await tab.getByRole('alert').first().waitFor({ state: 'detached' });
        assert.ok(await tab.evaluate('window.sameDocument'), `${path} was reloaded`);
      }),
    );
  });
}

test('a page that is opened while the server is dead says so in its place, and comes when the server is back', async () => {
  await Promise.all(browsers.map((one) => one.context().close()));
  const tab = await place.another('owner');
  await tab.goto(place.at('/'));
  await headingIn(tab, 'Home').waitFor();
  await tab.evaluate('window.sameDocument = true');
  await place.server.kill();
  const nav = tab.getByRole('navigation', { name: 'Main' });
  for (const name of ['API Keys', 'Webhooks', 'Audit log', 'Host']) {
    await nav.getByRole('link', { name, exact: true }).click();
    await tab.locator('main').getByText('Lodge cannot be reached').first().waitFor(patience);
    if (name === 'Host') await look(tab, 'troubles-dead');
  }
  await place.server.start();
  await headingIn(tab, 'Host').waitFor(patience);
  await tab
    .locator('main')
    .getByText('Lodge cannot be reached')
    .first()
    .waitFor({ state: 'detached', ...patience });
  assert.ok(await tab.evaluate('window.sameDocument'));
  await tab.context().close();
});

test('a form whose server is killed while it is sent keeps its text, and is saved once by the next server', async () => {
  await page.goto(place.at('$agent/schedules?form=add'));
  await fieldIn(page, 'Name').fill('After the crash');
  await fieldIn(page, 'What the agent is told').fill('A long text.');
  place.proxy.fail({ fault: { kind: 'slow', ms: 3_000 }, method: 'POST', path: '/schedules' });
  await buttonIn(page, 'Create schedule').click();
  await page.locator('[aria-busy=true]').waitFor();
  await place.server.kill();
  await page.getByRole('alert').getByText('Lodge cannot be reached').waitFor(patience);
  assert.equal(await fieldIn(page, 'What the agent is told').inputValue(), 'A long text.');
  await place.server.start();
  await buttonIn(page, 'Create schedule').click();
  await page.getByText('The schedule is made.').first().waitFor();
  const { data } = await place.lodge.schedules.list(place.agentId);
  assert.equal(data.filter(({ name }) => name === 'After the crash').length, 1);
});

const newcomer = { 'Your name': 'Nora', 'E-mail': 'nora@example.test', Password: 'a long enough password' };
for (const { path, save, texts, next } of [
  { path: '/account/sign-in', save: 'Sign in', texts: { 'E-mail': ada.email, Password: ada.password }, next: 'Home' },
  { path: '/account/register', save: 'Create account', texts: newcomer, next: 'Your first agent' },
  {
    path: '/account/join',
    save: 'Create account',
    texts: { ...newcomer, 'E-mail': 'joan@example.test' },
    next: 'Your first agent',
  },
]) {
  test(`${path}: nothing typed is lost, and it is sent once`, async () => {
    const { proxy } = place;
    const tab = await place.another('nobody');
    await tab.goto(place.at(path === '/account/join' ? await place.invite() : path));
    for (const [label, text] of Object.entries(texts)) await fieldIn(tab, label).fill(text);
    const areKept = async (): Promise<void> => {
      for (const [label, text] of Object.entries(texts)) assert.equal(await fieldIn(tab, label).inputValue(), text);
    };
    for (const [fault, words] of [
      [broken, 'Something went wrong on our side.'],
      [tooOften, 'Too many changes. Try again in 30 s.'],
    ] as const) {
      proxy.fail({ fault, method: 'POST', path: '/v1/account/' });
      await buttonIn(tab, save).click();
      await tab.getByRole('alert').getByText(words).waitFor();
      await areKept();
    }
    await proxy.down();
    await buttonIn(tab, save).click();
    await tab.getByRole('alert').getByText('Lodge cannot be reached').waitFor();
    await proxy.up();
    await areKept();
    proxy.fail({ fault: { kind: 'slow', ms: 800 }, method: 'POST', path: '/v1/account/' });
    const before = proxy.requests.length;
    await buttonIn(tab, save).click();
    await tab.locator('[aria-busy=true]').waitFor();
    await buttonIn(tab, save).dispatchEvent('click');
    await headingIn(tab, next).waitFor();
    assert.equal(proxy.requests.slice(before).filter(({ method }) => method === 'POST').length, 1);
    await tab.context().close();
  });
}

/** The browser and React report what a dead server broke. */
const ofDeadServer = /^(?:WebSocket connection to|ApiError: Lodge cannot be reached)/;
test('no page broke the content security policy or its own code', () => {
  assert.deepEqual(
    place.faults.filter((words) => !ofDeadServer.test(words)),
    [],
  );
});
