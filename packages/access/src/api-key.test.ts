import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashApiKey, isWellFormedApiKey, makeApiKey } from './api-key.ts';

const body = 'lodge_live_'.length;

test('keys have the documented shape, pass their own checksum and differ', () => {
  const keys = Array.from({ length: 1000 }, makeApiKey);
  for (const key of keys) {
    assert.match(key, /^lodge_live_[0-9A-Za-z]{43}$/);
    assert.ok(isWellFormedApiKey(key));
  }
  assert.equal(new Set(keys).size, 1000);
});

test('every wrong letter and every swapped pair is told without the store', () => {
  const key = makeApiKey();
  for (let i = 0; i < key.length; i++) {
    const wrong = key[i] === 'x' ? 'y' : 'x';
    assert.ok(!isWellFormedApiKey(key.slice(0, i) + wrong + key.slice(i + 1)), `letter ${i}`);
    if (i === 0 || i === body || key[i] === key[i - 1]) continue;
    const swapped = key.slice(0, i - 1) + key[i] + key[i - 1] + key.slice(i + 1);
    assert.ok(!isWellFormedApiKey(swapped), `pair ${i}`);
  }
});

test('cut, padded and foreign texts are told too', () => {
  const key = makeApiKey();
  for (const wrong of ['', key.slice(0, -1), `${key}0`, ` ${key}`, `${key}\n`, key.slice(body), `Bearer ${key}`]) {
    assert.ok(!isWellFormedApiKey(wrong), JSON.stringify(wrong));
  }
});

test('a checksum keeps its leading zeros', () => {
  // About every fifth CRC is below 62^5 and has fewer than six digits of its own. The length must not shrink.
  let leading = 0;
  for (let i = 0; i < 2000; i++) if (makeApiKey().at(-6) === '0') leading++;
  assert.ok(leading > 0);
});

test('the hash at rest is SHA-256 of the whole key', () => {
  assert.equal(hashApiKey('abc').toString('hex'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});
