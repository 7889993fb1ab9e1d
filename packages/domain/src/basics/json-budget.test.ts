import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JsonBudget } from './json-budget.ts';

const bounds = { bytes: 1_000, depth: 3, elements: 6 };
/** Hostile and honest texts, each with the bound that it is beyond. */
const texts = [
  ['[1,2,3,4,5]', null],
  ['[1,2,3,4,5,6]', 'elements'],
  ['[[[1]]]', null],
  ['[[[[1]]]]', 'depth'],
  [']]]][[[1', null],
  [']]]][[[[1', 'depth'],
  ['"[[[[,,,,,,,"', null],
  [String.raw`"\"[[[[,,,,,,"`, null],
  [String.raw`"\\"[[[[`, 'depth'],
  [String.raw`"\\\"[[[[\\\\\"[[[["`, null],
  [String.raw`"\\\\","",""`, null],
  ['"é€😀[[[["', null],
  ['"é€😀"[[[[', 'depth'],
] as const;

test('a text is measured alike as a whole and in pieces of any size', () => {
  for (const [text, bound] of texts) {
    assert.equal(new JsonBudget(bounds).exceeds(text), bound, text);
    const bytes = new TextEncoder().encode(text);
    for (let size = 1; size <= bytes.length; size += 1) {
      for (const form of ['text', 'lines'] as const) {
        const budget = new JsonBudget(bounds, form);
        let found: string | null = null;
        for (let at = 0; at < bytes.length && found === null; at += size) {
          found = budget.exceeds(bytes.subarray(at, at + size));
        }
        assert.equal(found, bound, `${text} in pieces of ${size}`);
      }
    }
  }
});

test('bytes are counted over all pieces', () => {
  const budget = new JsonBudget({ ...bounds, bytes: 5 });
  assert.equal(budget.exceeds('"abc'), null);
  assert.equal(budget.exceeds('"'), null);
  assert.equal(budget.exceeds(' '), 'bytes');
});

test('a line of a stream ends every string, and its values count with those of the lines before', () => {
  for (const lineEnd of ['\n', '\r', '\r\n']) {
    for (const line of ['data: "never ended', String.raw`data: "\"`, 'data: "\\']) {
      const whole = new JsonBudget(bounds, 'lines');
      assert.equal(whole.exceeds(`${line}${lineEnd}data: [[[`), null, line);
      assert.equal(whole.exceeds('['), 'depth', line);
      const cut = new JsonBudget(bounds, 'lines');
      assert.equal(cut.exceeds(line), null);
      assert.equal(cut.exceeds(lineEnd), null);
      assert.equal(cut.exceeds('[[[['), 'depth', line);
    }
  }
  const many = new JsonBudget(bounds, 'lines');
  assert.equal(many.exceeds('data: [1,2]\n\ndata: [1,2]\n\n'), null);
  assert.equal(many.exceeds('data: [1,2]\n\n'), 'elements');
});

test('a stream of hostile lines costs next to nothing', () => {
  const many = { bytes: 64 * 1024 * 1024, depth: 1e9, elements: 1e9 };
  const before = process.cpuUsage();
  for (const unit of ['"', '"\n', '\\"', '\\"\n', '"\\"\n', '\n', '\r', '"a",', '\\', '"x'.padEnd(40, 'x')]) {
    const text = new TextEncoder().encode(unit.repeat((1024 * 1024) / unit.length));
    for (const form of ['text', 'lines'] as const) new JsonBudget(many, form).exceeds(text);
  }
  // Tenths of a second. A pass that looks for a line's end again at each quote takes minutes.
  assert.ok(process.cpuUsage(before).user < 6_000_000);
});
