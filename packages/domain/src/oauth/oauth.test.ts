import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { makeUserCode, readUserCode, shownUserCode } from './device.ts';
import { maxClientNameChars, shownName } from './grants.ts';

test('a user code is read as people type it, and nothing else is one', () => {
  for (let i = 0; i < 200; i += 1) {
    const code = makeUserCode(randomInt);
    assert.match(shownUserCode(code), /^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/);
    for (const typed of [code, shownUserCode(code), code.toLowerCase(), ` ${shownUserCode(code).toLowerCase()} `]) {
      assert.equal(readUserCode(typed), code);
    }
  }
  for (const text of [
    '',
    'BCDF-GHJ',
    'BCDF-GHJKL',
    'ACDF-GHJK',
    'BCDF-GHJ1',
    'ＢCDFGHJK',
    `BCDFGHJK${' '.repeat(32)}`,
  ]) {
    assert.equal(readUserCode(text), null, text);
  }
});

test('a name has one line of visible characters and a bound', () => {
  assert.equal(shownName('  Ada’s\nlaptop\t(work) '), 'Ada’s laptop (work)');
  assert.equal(shownName('\u001b[31mred\u001b[0m'), '[31mred [0m');
  assert.equal(shownName('ab\u202egpj.exe\u2066'), 'ab gpj.exe');
  assert.equal(shownName('ノート💻'), 'ノート💻');
  for (const empty of ['', ' \n ', '\u200b\u2060\ufeff', '\ud800']) {
    assert.equal(shownName(empty) ?? '', empty === '\ud800' ? '\ufffd' : '', JSON.stringify(empty));
  }
  assert.equal(Array.from(shownName('💻'.repeat(1_000))!).length, maxClientNameChars);
});
