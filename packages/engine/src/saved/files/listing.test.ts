/** Pages and differences of listings that a hostile guest may have written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxListingBytes } from '@lodge/ports';
import { changesBetween, listingFrom, maxChanges, pageOf } from './listing.ts';

const list = async (text: string, folder = '', after = '', limit = 100) =>
  pageOf(await listingFrom(text), { folder, after, limit });
const diff = async (earlier: string, later: string) =>
  changesBetween(await listingFrom(earlier), await listingFrom(later));
const names = (page: { readonly entries: readonly { readonly path: string }[] }) =>
  page.entries.map(({ path }) => path);

test('a folder shows its entries by name and in pages, and no path below one', async () => {
  const text = 'd 1 1 b\0f 1 1 b/z\0f 1 1 b/y\0f 1 1 b/y.d/x\0f 1 1 c\0f 1 1 a\0f 1 1 bb\0';
  assert.deepEqual(names(await list(text)), ['a', 'b', 'bb', 'c']);
  assert.deepEqual(names(await list(text, 'b')), ['b/y', 'b/z']);
  const first = await list(text, '', '', 2);
  assert.deepEqual([names(first), first.more, first.truncated], [['a', 'b'], true, false]);
  const second = await list(text, '', 'b', 2);
  assert.deepEqual([names(second), second.more], [['bb', 'c'], false]);
});

test('a path without a folder is refused; a workspace may be empty', async () => {
  await assert.rejects(list('f 1 1 a\0', 'none'), { code: 'file_not_found' });
  await assert.rejects(list('f 1 1 a\0', 'a'), { code: 'file_conflict' });
  assert.deepEqual(await list(''), { entries: [], more: false, truncated: false });
});

test('a listing that was cut off says so, wherever that was', async () => {
  assert.equal((await list('f 1 1 a\0f 1 1 b')).truncated, true);
  const record = 'f 1 1 aaaaaaaaa\0';
  const full = record.repeat(maxListingBytes / record.length);
  assert.equal((await list(full)).truncated, true);
  assert.deepEqual(await diff(full, full), { changes: [], truncated: true });
  const many = Array.from({ length: 200_001 }, (_, index) => `f 1 1 ${index}\0`).join('');
  assert.equal((await list(many)).truncated, true);
});

test('differences are bounded, in the order of their paths', async () => {
  const many = Array.from({ length: maxChanges + 1 }, (_, index) => `f 1 1 ${index}\0`).join('');
  const { changes, truncated } = await diff('', many);
  assert.deepEqual([changes.length, truncated], [maxChanges, true]);
  const paths = changes.map(({ path }) => path);
  assert.deepEqual(paths.slice(0, 3), ['0', '1', '10']);
  assert.deepEqual(await diff('f 1 1 a\0', 'f 3 1 a\0f 4 1 \n\0'), {
    changes: [
      { path: '\n', change: 'added', size: 4 },
      { path: 'a', change: 'changed', size: 3 },
    ],
    truncated: false,
  });
});

test('others get their turn while a long listing is read', async () => {
  const text = Array.from({ length: 200_000 }, (_, index) => `f 1 1 folder/${index}\0`).join('');
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  await diff(text, text);
  clearInterval(timer);
  assert.ok(turns >= 10, `${turns} turns`);
});
