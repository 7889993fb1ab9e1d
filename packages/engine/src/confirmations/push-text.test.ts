import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownCall } from './shown.ts';

const [none, one, two] = ['0', '1', '2'].map((digit) => digit.repeat(40)) as [string, string, string];
const line = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text;
const pack = Buffer.from([0x50, 0x41, 0x43, 0x4b, 0, 0xff, 0xfe]);
const shown = (body: Buffer): string =>
  shownCall({
    kind: 'host',
    connection: 'code',
    url: 'https://github.com',
    method: 'POST',
    path: '/acme/site.git/git-receive-pack',
    query: '',
    headers: { authorization: 'Basic of-a-program', 'x-own': 'mine' },
    body: body.toString('base64'),
  }).quoted!;

test('a push is shown by the refs that it changes and the size of its pack, without the authorization', () => {
  const commands = [
    line(`${one} ${two} refs/heads/main\0 report-status agent=git/2`),
    line(`${none} ${one} refs/tags/v1`),
    line(`${two} ${none} refs/heads/old`),
  ];
  assert.equal(
    shown(Buffer.concat([Buffer.from(`${commands.join('')}0000`), pack])),
    `x-own: mine\n\ngit push: refs/heads/main becomes ${two} after ${one}\n` +
      `git push: refs/tags/v1 becomes ${one}, and is new\ngit push: delete refs/heads/old, which is ${two}\n\n` +
      '(7 bytes that are no text)',
  );
});

test('a body that is no push, or only begins like one, is shown as any other', () => {
  const first = line(`${one} ${two} refs/heads/main`);
  for (const body of ['', '0000', 'fine', `${first}fine`, `ffff${first}`, `0004${first}`, `${line('shallow x')}0000`])
    assert.ok(!shown(Buffer.from(body)).includes('git push:'), body);
  assert.ok(shown(Buffer.from(`${first}0000and more`)).endsWith('\n\nand more'), 'text behind it is not hidden');
  const many = Array.from({ length: 30 }, () => first).join('');
  assert.ok(!shown(Buffer.from(`${many}0000`)).includes('git push:'), 'too many to be read one by one');
});
