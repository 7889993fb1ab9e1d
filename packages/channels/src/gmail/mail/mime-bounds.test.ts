import assert from 'node:assert/strict';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import { boundedMime, maxParts } from './mime-bounds.ts';

const bounds = { textBytes: 64 * 1024, textLines: 1_000 };
const nl = '\r\n';
const linesOf = (bytes: Buffer): number => bytes.toString('latin1').split('\n').length;
const bounded = (text: string) => boundedMime(Buffer.from(text), bounds);

const mixed = (...parts: readonly string[]): string =>
  [
    'Content-Type: multipart/mixed; boundary="a b"',
    '',
    ...parts.map((part) => `--a b${nl}${part}`),
    '--a b--',
    '',
  ].join(nl);

test('a mail within its bounds is read as it is, and its files have their bytes', async () => {
  const file = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));
  const base64 = file.toString('base64').replaceAll(/.{76}/g, `$&${nl}`);
  const text = mixed(
    `Content-Type: text/plain${nl}${nl}one${nl}--two${nl}-- a b${nl}three`,
    `Content-Type: image/png${nl}Content-Transfer-Encoding:${nl} BASE64${nl}Content-Disposition: attachment; filename=a${nl}${nl}${base64}`,
    `Content-Type: text/csv${nl}Content-Disposition: attachment; filename=b${nl}${nl}x,y${nl}1,2`,
  );
  const { bytes, isCut } = bounded(text);
  assert.equal(isCut, false);
  assert.ok(linesOf(bytes) < 40, 'base64 is joined');
  const email = await PostalMime.parse(bytes);
  assert.equal(email.text?.trim(), 'one\n--two\n-- a b\nthree');
  assert.deepEqual(Buffer.from(email.attachments[0]!.content as ArrayBuffer), file);
  assert.equal(
    Buffer.from(email.attachments[1]!.content as ArrayBuffer)
      .toString()
      .trim(),
    'x,y\n1,2',
  );
});

const hostile: Readonly<Record<string, string>> = {
  'short lines': `Content-Type: text/plain${nl}${nl}${`a${nl}`.repeat(200_000)}`,
  'one long line': `Content-Type: text/plain${nl}${nl}${'a'.repeat(1_000_000)}`,
  'short lines of base64': `Content-Transfer-Encoding: base64${nl}${nl}${`a${nl}`.repeat(200_000)}`,
  'many parts': mixed(...Array.from({ length: 5_000 }, () => `Content-Type: text/plain${nl}${nl}x`)),
  'parts within parts': Array.from(
    { length: 2_000 },
    (_, at) => `Content-Type: multipart/mixed; boundary=${at}x${nl}${nl}--${at}x${nl}`,
  ).join(''),
  'a header without end': `X: ${'a'.repeat(30)}${nl}`.repeat(50_000),
  'a header of short lines': `X:a${nl}`.repeat(100_000),
};
for (const [name, text] of Object.entries(hostile)) {
  test(`what a parser gets is bounded: ${name}`, () => {
    const { bytes } = bounded(text);
    const lines = linesOf(bytes);
    assert.ok(lines <= bounds.textLines + maxParts + 10, `${lines} lines`);
    const isBase64 = name.includes('base64');
    assert.ok(isBase64 || bytes.length <= bounds.textBytes + 100 * maxParts, `${bytes.length} bytes`);
  });
}

test('what is left out is told, and a mail of endless lines is refused', () => {
  assert.equal(bounded(`X: y${nl}${nl}${`a${nl}`.repeat(2_000)}`).isCut, true);
  assert.throws(() => boundedMime(Buffer.alloc(3_000_000, '\n'), bounds), /more than 1000000 lines/);
});

test('boundaries and lines that look like them take no longer than a mail of files', () => {
  const names = Array.from({ length: 64 }, (_, at) => `${'p'.repeat(20)}${at + 10}`);
  const parts = names.map((name) => `Content-Type: multipart/mixed; boundary=${name}${nl}${nl}--${name}${nl}`);
  const mail = Buffer.from(`${parts.join('')}${nl}${`--${'p'.repeat(20)}~${nl}`.repeat(900_000)}`);
  const before = process.cpuUsage();
  assert.equal(boundedMime(mail, bounds).isCut, true);
  const { user } = process.cpuUsage(before);
  assert.ok(user < 1_500_000, `${user} µs`);
});
