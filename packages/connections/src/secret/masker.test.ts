import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formsOf, secretsOf } from './forms.ts';
import { Masker, Needles, maskedJson, maskedText } from './masker.ts';

const token = 'mark-7Qx9/Zt+4&Lw=2Rk<8Vb';
const needles = new Needles(secretsOf({ authorization: `Bearer ${token}` }));
const through = (chunks: readonly Buffer[], given = needles): string => {
  const masker = new Masker(given);
  return Buffer.concat([...chunks.map((chunk) => masker.push(chunk)), masker.end()]).toString('latin1');
};

test('a secret is masked wherever the bytes are cut, in each of its forms', () => {
  for (const form of formsOf(token)) {
    const bytes = Buffer.from(`before ${form} after`, 'latin1');
    const expected = through([bytes]);
    assert.match(expected, /^before \*+ after$/, form);
    assert.equal(expected.length, bytes.length);
    for (let at = 0; at <= bytes.length; at += 1) {
      assert.equal(through([bytes.subarray(0, at), bytes.subarray(at)]), expected, `${form} at ${at}`);
    }
    assert.equal(through(Array.from(bytes, (byte) => Buffer.from([byte]))), expected, `${form} byte by byte`);
  }
});

test('parts of 16 characters are masked too, and secrets one behind the other', () => {
  assert.equal(maskedText(needles, `x ${token.slice(3, 19)} y`), `x ${'*'.repeat(16)} y`);
  assert.equal(maskedText(needles, token + token), '*'.repeat(50));
});

test('other text passes as it is, and is not held back for long', () => {
  const masker = new Masker(needles);
  assert.equal(
    masker.push(Buffer.from('data: {"text":"mark my words"}\n\n')).toString(),
    'data: {"text":"mark my words"}\n\n',
  );
  const text = `${'mark-7Qx9 and other text '.repeat(1_000)}\u65e5`;
  assert.equal(maskedText(needles, text), text);
});

test('what is secret of a value: not its scheme, but its password and its parameters', () => {
  assert.deepEqual(secretsOf({ a: 'Bearer abcdefgh' }), ['abcdefgh']);
  const basic = secretsOf({ a: `Basic ${Buffer.from('user:password-1').toString('base64')}` });
  assert.ok(basic.includes('password-1') && basic.includes('user:password-1'));
  assert.ok(secretsOf({ cookie: 'a=1; session="abcdefghij"' }).includes('abcdefghij'));
  assert.deepEqual(secretsOf({ a: 'short' }), []);
});

test('JSON is masked in its texts and its keys', () => {
  const masked = maskedJson(needles, { [token]: [token, 1, null, { a: token }] });
  assert.doesNotMatch(JSON.stringify(masked), /mark|Rk<8Vb/);
});

test('the worst text takes time in proportion to its length', () => {
  const worst = new Needles(secretsOf({ a: 'a'.repeat(4_096) }));
  const timeOf = (mib: number): number => {
    const bytes = Buffer.alloc(mib * 2 ** 20, 'a');
    const began = performance.now();
    through([bytes], worst);
    return performance.now() - began;
  };
  timeOf(1);
  const [one, four] = [timeOf(1), timeOf(4)];
  assert.ok(four < 20 * one, `${one} ms and ${four} ms`);
  assert.equal(maskedText(worst, 'a'.repeat(5_000)), '*'.repeat(5_000));
});
