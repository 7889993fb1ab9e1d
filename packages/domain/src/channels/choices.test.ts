import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertChoices, codeAnswerIn } from './choices.ts';

test('an answer with a code is found at the beginning of a text alone', () => {
  const found = (text: string) => {
    const { answer, code } = codeAnswerIn(text) ?? {};
    return { answer, code };
  };
  const yes = { answer: 'yes', code: '4821' };
  for (const text of [
    'yes 4821',
    '  YES 4821',
    '`yes 4821`',
    'Yes, 4821.',
    '"yes" 4821 thank you',
    'yes\n4821\n\n> quoted',
  ]) {
    assert.deepEqual(found(text), yes, text);
  }
  assert.deepEqual(found('no 00482137'), { answer: 'no', code: '00482137' });
  assert.deepEqual(found('2 4821'), { answer: 2, code: '4821' });
  assert.equal(codeAnswerIn('Answer 4821: on Monday,\nat ten')!.words, 'on Monday,\nat ten');
  const others = ['', 'yes', 'yes 482', 'yes 482137421', '4821 yes', 'I say yes 4821', 'yes4821', 'yes 48a1', '7 4821'];
  for (const text of [
    ...others,
    'yes no 4821',
    'yes ٤٨٢١',
    `yes${' '.repeat(100)}4821`,
    `yes ${' '.repeat(56)}48213`,
  ]) {
    assert.equal(codeAnswerIn(text), null, text);
  }
});

test('a long text is looked at no further than its beginning', () => {
  const before = process.cpuUsage();
  for (const part of [' ', 'yes ', '`', '1', ',,']) codeAnswerIn(part.repeat(1_000_000));
  assert.ok(process.cpuUsage(before).user < 200_000);
});

test('choices that a platform may refuse are a mistake of ours', () => {
  const one = { token: 'abc_-9', label: 'Allow' };
  assertChoices([one]);
  for (const wrong of [
    [],
    Array.from({ length: 7 }, () => one),
    [{ ...one, token: 'x'.repeat(65) }],
    [{ ...one, token: 'a b' }],
    [{ ...one, label: ' ' }],
    [{ ...one, label: 'x'.repeat(41) }],
  ]) {
    assert.throws(() => assertChoices(wrong), RangeError);
  }
});
