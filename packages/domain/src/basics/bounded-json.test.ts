import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundedJson, JsonBoundsError } from './bounded-json.ts';

const bounds = { bytes: 100, depth: 3, elements: 5 };
const beyond = (bound: string) => (error: unknown) => error instanceof JsonBoundsError && error.bound === bound;

test('what is within the bounds is read, as text and as bytes', () => {
  for (const value of [null, 1, 'a', '[{,"\\\\"\\', [[[]]], [1, 2, 3, 4], { a: { 'b"[': '}],{' } }, '"'.repeat(40)]) {
    const text = JSON.stringify(value);
    assert.deepEqual(boundedJson(text, bounds), value);
    assert.deepEqual(boundedJson(Buffer.from(text), bounds), value);
  }
});

test('what is beyond one of them is not read', () => {
  assert.throws(() => boundedJson(`"${'x'.repeat(99)}"`, bounds), beyond('bytes'));
  assert.throws(() => boundedJson(Buffer.from(`"${'é'.repeat(50)}"`), bounds), beyond('bytes'));
  assert.throws(() => boundedJson('[[[[]]]]', bounds), beyond('depth'));
  assert.throws(() => boundedJson('[1,2,3,4,5]', bounds), beyond('elements'));
  assert.throws(() => boundedJson('[[],[],[]]', bounds), beyond('elements'));
  assert.throws(() => boundedJson('{"a":{"b":{"c":{}}}}', bounds), beyond('depth'));
});

test('what is no JSON is a syntax error, wherever it breaks off', () => {
  for (const text of ['', '"', '"\\', '"\\"', '[', ']', '{"a', '[1,]', 'x', '\\"', '"a"b'])
    assert.throws(() => boundedJson(text, bounds), SyntaxError, text);
});

test('hostile text costs next to nothing', () => {
  const many = { bytes: 8 * 1024 * 1024, depth: 64, elements: 1_000 };
  const before = process.cpuUsage();
  for (const unit of ['[],', '[', '{"a":', '"",', '\\', '"\\', '"\\"', ' ', '1'])
    try {
      boundedJson(`["${unit.repeat(many.bytes / 8)}`, many);
    } catch {
      // Any of its errors refuses the text.
    }
  // It takes hundredths of a second. `JSON.parse` takes 2 s over the first text alone.
  assert.ok(process.cpuUsage(before).user < 3_000_000);
});
