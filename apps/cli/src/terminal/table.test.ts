import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hostileStrings } from '../../../../tests/hands/cli/hostile-strings.ts';
import { table } from './table.ts';
import { width } from './width.ts';
import type { Column } from './table.ts';

interface Row {
  readonly id: string;
  readonly name: string;
}

const columns: readonly Column<Row>[] = [
  { title: 'id', value: ({ id }) => id, keep: true },
  { title: 'name', value: ({ name }) => name },
  { title: 'count', value: ({ name }) => name.length, align: 'right' },
];
const rows = [...hostileStrings, 'x'.repeat(100_000), ''].map((name, at) => ({ id: `agent${at}`, name }));
const plain = (text: string): string => text;

describe('tables', () => {
  test('each row is one line of the same columns, whatever the cells hold', () => {
    for (const room of [30, 80, 200]) {
      const lines = table(rows, columns, { columns: room, heading: plain }).split('\n');
      assert.equal(lines.pop(), '');
      assert.equal(lines.length, rows.length + 1);
      const [head] = lines;
      for (const line of lines) {
        assert.ok(width(line) <= room, `${width(line)} of ${room}: ${line}`);
        assert.equal(width(line), width(head!), 'the last column ends where its heading does');
      }
    }
  });

  test('columns to keep are whole, and in a pipe all are', () => {
    const lines = table(rows, columns, { columns: 30, heading: plain }).split('\n');
    assert.ok(lines.slice(1, -1).every((line, at) => line.startsWith(`agent${at} `)));
    const piped = table([{ id: 'a', name: 'x'.repeat(300) }], columns, { columns: null, heading: plain });
    assert.equal(piped, `a\t${'x'.repeat(300)}\t300\n`);
  });
});
