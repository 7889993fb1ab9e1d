import assert from 'node:assert/strict';
import { test } from 'node:test';
import { believedMs, isOpaque, isScope, renewalIn } from './oauth.ts';

test('scopes are words of RFC 6749 with one space between two', () => {
  for (const scope of ['a', 'repo:read user', 'https://example.com/mail.send !#[]~']) assert.ok(isScope(scope), scope);
  for (const scope of ['', ' a', 'a ', 'a  b', 'a\tb', 'a"b', 'a\\b', 'ä', 'a\nb', 'x'.repeat(1_001)]) {
    assert.ok(!isScope(scope), JSON.stringify(scope.slice(0, 20)));
  }
});

test('what stands in headers and forms is printable and bounded', () => {
  assert.ok(isOpaque('eyJ.~+/=', 8));
  for (const text of ['', 'a b', 'a\r\nb', 'ä', 'x'.repeat(9)]) assert.ok(!isOpaque(text, 8), text);
});

test('access is renewed before it ends, a short one too; what nothing renews is used to its end', () => {
  const refreshToken = 'r';
  assert.equal(renewalIn({ expiresInMs: 3_600_000, refreshToken }), 3_540_000);
  assert.equal(renewalIn({ expiresInMs: 10_000, refreshToken }), 8_000);
  assert.equal(renewalIn({ expiresInMs: null, refreshToken }), null);
  assert.equal(renewalIn({ expiresInMs: 3_600_000, refreshToken: null }), null);
  assert.deepEqual([believedMs(0), believedMs(60_000), believedMs(Infinity)], [10_000, 60_000, 31_622_400_000]);
});
