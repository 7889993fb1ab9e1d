import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactMasked } from './redact.ts';

test('what is left of a masked key is taken out, and nothing else', () => {
  for (const [text, clean] of [
    ['key sk-pro***h3Qw, see', 'key [redacted], see'],
    ['***', '[redacted]'],
    ['a*****b***c ** d', '[redacted][redacted] ** d'],
    ['no stars, 2 ** 3', 'no stars, 2 ** 3'],
    ['(sk-a***)', '([redacted])'],
  ] as const) {
    assert.equal(redactMasked(text), clean);
  }
});

test('an error text of any size is looked through in a moment', () => {
  for (const piece of ['a', 'a-', '**a', '***', 'a***']) {
    const text = piece.repeat((4 * 1024 * 1024) / piece.length);
    const before = process.cpuUsage();
    redactMasked(text);
    const { user, system } = process.cpuUsage(before);
    // Some 100 ms; what is quadratic takes hours.
    assert.ok((user + system) / 1e6 < 10, piece);
  }
});
