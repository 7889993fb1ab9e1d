/** An agent's machine in a real browser: its log, its files and its terminal, by the real guest daemon. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { NewLogEntry } from '@lodge/ports';
import type { Locator, Page } from 'playwright-core';
import { buttonIn, fieldIn, headingIn, isFocused, signIn } from './actions.ts';
import { look, looked, sizes } from './browser.ts';
import { hostileFiles, hostileLines, hostileLink, hostileNames, hostileOutput } from './machine-hostile.ts';
import { openMachinePlace } from './machine-place.ts';
import type { MachinePlace } from './machine-place.ts';
import { logWriter } from '@lodge/store/logs';

let place: MachinePlace;
let page: Page;
before(async () => {
  place = await openMachinePlace();
  ({ page } = place);
});
after(() => place?.close());

const log = (entries: readonly NewLogEntry[]): Promise<void> =>
  logWriter(place.world.store.database).append(place.agentId, entries);
const line = (message: string, more: Partial<NewLogEntry> = {}): NewLogEntry => ({
  level: 'info',
  source: 'gateway',
  message,
  ...more,
});
const hours = 3_600_000;
const logLines = (): Locator => page.getByRole('log', { name: 'Log lines' });
const editor = (name: string): Locator => fieldIn(page, `Contents of ${name}`);
const entry = (name: string): Locator =>
  page.getByRole('table', { name: 'Files' }).getByRole('link', { name, exact: true });
const toast = (words: string): Promise<void> => page.getByText(words).first().waitFor();

test('a browser is given by a press, and its page says how it is', async () => {
  await page.goto(place.at('browser'));
  await headingIn(page, 'Browser').waitFor();
  await look(page, 'browser-none');
  await buttonIn(page, 'Give it a browser').click();
  await page.getByText(/The machine does not have it yet|It is not available/).waitFor();
  await look(page, 'browser');
  await buttonIn(page, 'Take the browser away').click();
  await buttonIn(page, 'Give it a browser').waitFor();
});

test('the log is followed, searched and read from a time', async () => {
  await log(Array.from({ length: 3000 }, (_, n) => line(`request ${n} was handled in ${n % 97} ms`)));
  // A log is never written backwards, so what is old by now was written as new.
  const begin = Date.now() - 6 * hours;
  await place.world.sql.query(
    `update agent_logs set at = to_timestamp($1) + substring(message from 'request (\\d+)')::int * interval '1 second'
     where message like 'request %'`,
    [begin / 1000],
  );
  await log([line('Out of memory: the worker was killed', { level: 'error', source: 'console' })]);
  await page.goto(place.at('logs'));
  await headingIn(page, 'Logs').waitFor();
  await logLines().getByText('Out of memory').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await look(page, 'logs');
  await log([line('a line that comes later', { level: 'warn' })]);
  await logLines().getByText('a line that comes later').waitFor();

  // The reader scrolls up: older lines come, and the place stays, also while new ones are written.
  await page.evaluate(`document.querySelector('[role=log]').scrollTop = 0`);
  await page.getByText(/^1,00\d lines here$/).waitFor();
  const seen = logLines()
    .getByText(/^request 250\d was/)
    .first();
  await seen.waitFor();
  await log([line('said while the reader is elsewhere')]);
  await buttonIn(page, '1 new line').waitFor();
  await seen.waitFor();
  await buttonIn(page, '1 new line').click();
  await logLines().getByText('said while the reader is elsewhere').waitFor();

  await fieldIn(page, 'Search the log').fill('request 17');
  await logLines().getByText('request 1799').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('q'), 'request 17');
  await page.goto(`${place.at('logs')}?level=error`);
  await logLines().getByText('Out of memory').waitFor();
  assert.equal(await logLines().getByText('request').count(), 0);
  const time = new Date(begin + 1_000_000).toISOString();
  await page.goto(`${place.at('logs')}?at=${encodeURIComponent(time)}`);
  await logLines().getByText('request 1000 was handled').waitFor();
  await buttonIn(page, 'Back to now').click();
  await logLines().getByText('said while the reader is elsewhere').waitFor();
  await page.goto(`${place.at('logs')}?q=nowhere-at-all`);
  await page.getByText('No line matches').waitFor();
  await look(page, 'logs-nothing', 'wide');
});

test('a log that cannot be followed says so, and goes on where it was', async () => {
  await page.route(/\/logs\?.*follow=true/, (route) => route.abort());
  await page.goto(place.at('logs'));
  await page.getByText('The connection was lost. Reconnecting…').waitFor();
  await log([line('written while nobody could follow')]);
  await page.unroute(/\/logs\?.*follow=true/);
  await logLines().getByText('written while nobody could follow').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
});

test('a file is edited, and a change that the agent makes meanwhile is told', async () => {
  await page.goto(place.at('files'));
  await page.getByText('This folder is empty').waitFor();
  await look(page, 'files-empty', 'wide');
  await place.lodge.files.write(place.agentId, 'docs/deep/one.txt', 'one');
  await place.writeGuest('todo.txt', 'first\r\nsecond\r\n');
  await place.writeGuest('notes.md', '# Notes\n\n- [x] done\n- [ ] open\n');
  await buttonIn(page, 'Read the folder again').click();
  await entry('docs').waitFor();
  await look(page, 'files');
  await entry('todo.txt').click();
  await editor('todo.txt').fill('first\nsecond\nthird\n');
  await page.keyboard.press('Control+s');
  await toast('“todo.txt” is saved.');
  assert.equal(
    await place.readGuest('todo.txt'),
    'first\r\nsecond\r\nthird\r\n',
    'the ends of lines are the file’s own',
  );

  await editor('todo.txt').fill('typed by a person');
  await place.writeGuest('todo.txt', 'written by the agent');
  await page.keyboard.press('Control+s');
  await page.getByText('The file was changed meanwhile.').waitFor();
  await look(page, 'file-conflict');
  assert.equal(await editor('todo.txt').inputValue(), 'typed by a person');
  assert.equal(await place.readGuest('todo.txt'), 'written by the agent');
  await buttonIn(page, 'Save mine over it').click();
  await page.getByText('Saved', { exact: true }).waitFor();
  assert.equal(await place.readGuest('todo.txt'), 'typed by a person');
});

test('what was typed outlives a way off the page and a session that ends', async () => {
  await editor('todo.txt').fill('not saved yet');
  await page.getByRole('link', { name: 'workspace' }).click();
  await headingIn(page, 'Leave without saving?').waitFor();
  await buttonIn(page, 'Stay').click();
  assert.equal(await editor('todo.txt').inputValue(), 'not saved yet');
  await page.context().clearCookies();
  await page.keyboard.press('Control+s');
  await headingIn(page, 'Sign in').waitFor();
  await signIn({ name: 'Ada', email: 'owner@example.com', password: 'correct horse battery staple' }, page);
  await editor('todo.txt').waitFor();
  assert.equal(await editor('todo.txt').inputValue(), 'not saved yet');
  await buttonIn(page, 'Save').click();
  await page.getByText('Saved', { exact: true }).waitFor();
  assert.equal(await place.readGuest('todo.txt'), 'not saved yet');
});

test('files come in by the button and by a drop, large ones in parts, and replace nothing unasked', async () => {
  await page.goto(place.at('files'));
  const large = Buffer.alloc(9 * 1024 * 1024, 'lodge');
  await fieldIn(page, 'Files to upload').setInputFiles([
    { name: 'large.bin', mimeType: '', buffer: large },
    { name: 'todo.txt', mimeType: 'text/plain', buffer: Buffer.from('of the person') },
  ]);
  await page.getByText('A file with this name is there already.').waitFor();
  await entry('large.bin').waitFor();
  assert.deepEqual(await readFile(place.inGuest('large.bin')), large);
  assert.equal(await place.readGuest('todo.txt'), 'not saved yet');
  await look(page, 'files-upload', 'narrow');
  await buttonIn(page, 'Replace todo.txt').click();
  await page.getByText('2 of 2 uploaded').waitFor();
  assert.equal(await place.readGuest('todo.txt'), 'of the person');
  const dropped = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(['by a drop'], 'dropped.txt'));
    return transfer;
  })()`);
  await page.getByRole('table', { name: 'Files' }).dispatchEvent('drop', { dataTransfer: dropped });
  await entry('dropped.txt').waitFor();
  assert.equal(await place.readGuest('dropped.txt'), 'by a drop');
});

test('folders and files are made, renamed, previewed, downloaded and deleted', async () => {
  await buttonIn(page, 'New folder').click();
  await fieldIn(page, 'Name').fill('plans');
  await buttonIn(page, 'Create folder').click();
  await page.getByText('This folder is empty').waitFor();
  await buttonIn(page, 'New file').click();
  await fieldIn(page, 'Name').fill('draft.md');
  await buttonIn(page, 'Create file').click();
  await page.getByRole('link', { name: 'Text', exact: true }).click();
  await editor('draft.md').fill('# A plan');
  await page.keyboard.press('Control+s');
  await page.getByText('Saved', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Preview', exact: true }).click();
  await page.getByRole('heading', { name: 'A plan', level: 3 }).waitFor();
  await look(page, 'file-markdown', 'wide');
  await page.getByRole('link', { name: 'plans' }).click();
  await buttonIn(page, 'Rename draft.md').click();
  await fieldIn(page, 'Name').fill('final.md');
  await buttonIn(page, 'Rename').click();
  await entry('final.md').waitFor();
  assert.equal(await place.readGuest('plans/final.md'), '# A plan');

  await place.writeGuest('docs/..\\..\\evil.bat', 'no');
  await page.goto(`${place.at('files')}?path=docs`);
  await entry('deep').waitFor();
  const download = page.waitForEvent('download');
  await buttonIn(page, 'Download folder').click();
  const archive = await readFile(await (await download).path(), 'latin1');
  assert.equal((await download).suggestedFilename(), 'docs.zip');
  for (const name of ['deep/', 'deep/one.txt', '.._.._evil.bat']) assert.ok(archive.includes(name), name);
  assert.ok(!archive.includes('..\\'), 'no name leads out of the folder on another system');

  await page.goto(place.at('files'));
  await buttonIn(page, 'Delete docs').click();
  await buttonIn(page, 'Delete folder').click();
  await toast('“docs” is deleted.');
  await assert.rejects(place.readGuest('docs/deep/one.txt'), { code: 'ENOENT' });
});

const shown = async (words: string | RegExp): Promise<void> => {
  await page.locator('.xterm-rows').getByText(words).first().waitFor();
};
const type = async (words: string): Promise<void> => {
  await page.locator('.xterm-helper-textarea').focus();
  await page.keyboard.type(`${words}\n`);
};

test('a terminal follows the size of the page, says when it was cut, and starts another shell', async () => {
  let cut: () => Promise<void> = async () => undefined;
  await page.routeWebSocket(/\/terminal/, (socket) => {
    const server = socket.connectToServer();
    cut = async () => {
      await server.close({ code: 1011, reason: 'cut' });
      await socket.close({ code: 1011, reason: 'cut' });
    };
  });
  await page.goto(place.at('terminal'));
  await page.getByText('Connected', { exact: true }).waitFor();
  await type(`printf '\\033[38;2;10;100;180mplum-%s\\033[0m\\n' $((20+22)); stty size > before`);
  await shown('plum-42');
  const colour = await page.evaluate(
    `getComputedStyle([...document.querySelectorAll('.xterm-rows span')].find((span) => span.textContent === 'plum-42')).color`,
  );
  assert.equal(colour, 'rgb(10, 100, 180)', 'a colour of the output is set without a style that the policy forbids');
  await look(page, 'terminal');
  await page.setViewportSize(sizes.narrow);
  await type('sleep 0.3; stty size > after; echo resized-$?');
  await shown('resized-0');
  assert.notEqual(await place.readGuest('after'), await place.readGuest('before'));
  await page.setViewportSize(sizes.wide);

  await cut();
  await page.getByText(/^The connection was cut, and what ran/).waitFor();
  await shown('plum-42');
  await type('exit 7');
  await page.getByText('The shell has ended, with code 7.').waitFor();
  await look(page, 'terminal-ended', 'wide');
  await buttonIn(page, 'Start another').click();
  await page.getByText('Connected', { exact: true }).waitFor();
  await page.keyboard.press('Control+Shift+ArrowUp');
  assert.ok(await isFocused(buttonIn(page, 'Copy selection')), 'the keyboard leads out of the terminal');
  await buttonIn(page, 'Screen reader mode').click();
  await type('echo for-$((40+2))-ears');
  await page.locator('.xterm-accessibility').getByText('for-42-ears').first().waitFor();
  await buttonIn(page, 'Screen reader mode').click();
});

test('hostile output of a terminal does nothing but stand there', async () => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.evaluate(`navigator.clipboard.writeText('mine')`);
  const title = await page.title();
  await writeFile(place.inGuest('hostile.sh'), hostileOutput.map((each) => `printf '%b\\n' '${each}'`).join('\n'));
  await type('clear; sh hostile.sh; echo survived-$((6*7))');
  await shown('survived-42');
  await shown('run-me');
  await page.locator('.xterm-rows').getByText('run-me').first().click({ force: true });
  assert.equal(await page.getByRole('dialog').count(), 0, 'a link of another scheme is no link');
  assert.equal(await page.title(), title);
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'mine');

  await type(`clear; printf '\\033]8;;${hostileLink}\\007your-bank\\033]8;;\\007\\n'`);
  const link = page.locator('.xterm-rows span').getByText('your-bank', { exact: true }).last();
  const at = await link.boundingBox();
  assert.ok(at);
  await page.mouse.move(at.x + 5, at.y + 5);
  await page.mouse.move(at.x + 12, at.y + 6);
  await page.mouse.click(at.x + 12, at.y + 6);
  await headingIn(page, 'Open this address?').waitFor();
  await page.getByRole('dialog').getByText(hostileLink).waitFor();
  await buttonIn(page, 'Cancel').click();
  await page.unrouteAll();
});

test('hostile names, contents and log lines are text', async () => {
  for (const [name] of hostileNames) await place.writeGuest(name, 'x');
  for (const [name, contents] of Object.entries(hostileFiles)) await place.writeGuest(name, contents);
  await page.goto(place.at('files'));
  for (const [, words] of hostileNames) await entry(words).waitFor();
  await entry(hostileNames[1]?.[1] ?? '').click();
  await editor(hostileNames[1]?.[1] ?? '').waitFor();
  await page.goto(`${place.at('files')}?file=page.html`);
  assert.equal(await editor('page.html').inputValue(), hostileFiles['page.html']);
  await page.goto(`${place.at('files')}?file=drawing.svg`);
  const drawing = page.getByRole('img', { name: 'drawing.svg' });
  await drawing.waitFor();
  const width = await page.evaluate(`(async () => {
    const image = document.querySelector('img[alt="drawing.svg"]');
    await image.decode();
    return image.naturalWidth;
  })()`);
  assert.equal(width, 80);
  await page.goto(`${place.at('files')}?file=fake.png`);
  await page.getByRole('img', { name: 'fake.png' }).waitFor({ state: 'attached' });
  await page.goto(`${place.at('files')}?file=readme.md`);
  await headingIn(page, 'Read me').waitFor();
  await page.getByText('the end of the page').waitFor();

  await log(hostileLines.map(([message]) => line(message)));
  await page.goto(`${place.at('logs')}?source=gateway&wrap=1`);
  for (const [, words] of hostileLines) await logLines().getByText(words).waitFor();
  await look(page, 'logs-hostile', 'wide');
  assert.equal(await page.evaluate('window.ran'), undefined);
});

test('a viewer reads, and is offered no change', async () => {
  const role = (name: string) =>
    place.world.sql.query('update accounts set role = $1 where id = $2', [name, place.owner.accountId]);
  await role('viewer');
  await page.goto(place.at('files'));
  await entry('todo.txt').waitFor();
  for (const name of ['Upload files', 'New file', 'Delete todo.txt', 'Rename todo.txt']) {
    assert.equal(await buttonIn(page, name).count(), 0, name);
  }
  await buttonIn(page, 'Download all').waitFor();
  await entry('todo.txt').click();
  assert.equal(await editor('todo.txt').isEditable(), false);
  await page.goto(place.at('terminal'));
  await page.getByText('Not for your role').waitFor();
  await role('owner');
});

test('a stopped agent is started only when the person says so', async () => {
  await place.lodge.agents.stop(place.agentId);
  await page.goto(place.at('files'));
  await page.getByText('The agent is stopped').waitFor();
  await look(page, 'files-stopped', 'wide');
  await buttonIn(page, 'Start the agent').click();
  await entry('todo.txt').waitFor();
});

test('no page broke the content security policy or its own code, and none asked another server', (t) => {
  assert.deepEqual(place.faults, []);
  assert.deepEqual(place.strangers, []);
  t.diagnostic(`axe ran ${looked.axe} times`);
});
