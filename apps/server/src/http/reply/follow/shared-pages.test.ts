import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedPages } from './shared-pages.ts';

test('who asks the same at once shares a query, unless the list has grown meanwhile', async () => {
  const begun: string[] = [];
  let end = (): void => undefined;
  const pages = new SharedPages<string, string>(async (query) => {
    begun.push(query);
    await new Promise<void>((resolve) => (end = resolve));
    return [query];
  });
  const first = [pages.page('a', 'q1'), pages.page('a', 'q2')];
  pages.grown();
  const endFirst = end;
  const second = [pages.page('a', 'q3'), pages.page('a', 'q4')];
  endFirst();
  end();
  assert.deepEqual(await Promise.all([...first, ...second]), [['q1'], ['q1'], ['q3'], ['q3']]);
  const later = pages.page('a', 'q5');
  end();
  assert.deepEqual(await later, ['q5']);
  assert.deepEqual(begun, ['q1', 'q3', 'q5']);
});

test('a query that fails fails for all who share it, and not for who comes after', async () => {
  let isBroken = true;
  const pages = new SharedPages<string, string>(async () => {
    if (isBroken) throw new Error('broken');
    return ['x'];
  });
  const both = [pages.page('a', ''), pages.page('a', '')];
  for (const each of both) await assert.rejects(each, /broken/);
  isBroken = false;
  assert.deepEqual(await pages.page('a', ''), ['x']);
});
