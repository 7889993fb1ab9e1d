import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { boundedJson } from './basics/bounded-json.ts';
import type { JsonBounds } from './basics/json-budget.ts';
import { textBounds } from './text-bounds.ts';

test('the table in the documents shows these bounds', async () => {
  const page = await readFile(new URL('../../../docs/reference/bounds.md', import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  const shown = rows.map((row) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')));
  assert.deepEqual(
    Object.fromEntries(
      shown.map(([, name = '', , bytes, depth, elements]) => [
        name,
        { bytes: Number(bytes), depth: Number(depth), elements: Number(elements) },
      ]),
    ),
    textBounds,
  );
});

test('the costliest texts within the bounds are cheap', () => {
  for (const [name, bounds] of Object.entries<JsonBounds>(textBounds)) {
    const count = Math.floor(bounds.elements / 2) - 2;
    const texts = [
      JSON.stringify(Array.from({ length: count }, (_, index) => ({ [`k${index}`]: 1 }))),
      `[${Array.from({ length: count }, () => '[]').join()}]`,
      `"${'\\u0001'.repeat(bounds.bytes / 6 - 1)}"`,
      `"${'\\"'.repeat(bounds.bytes / 2 - 1)}"`,
    ];
    for (const text of texts.filter(({ length }) => length <= bounds.bytes)) {
      const before = process.cpuUsage();
      boundedJson(text, bounds);
      // Some 5 ms on a quiet machine.
      assert.ok(process.cpuUsage(before).user < 150_000, `${name}: ${text.slice(0, 20)}`);
    }
  }
});
