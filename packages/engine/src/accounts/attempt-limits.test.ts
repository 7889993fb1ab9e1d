import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountLimit } from './attempt-limits.ts';

test('an address that the account knows has a count of its own, and no e-mail stands in a count', () => {
  const [strange, known] = [false, true].map((is) => accountLimit('a@example.com', '192.0.2.7', is).subject);
  assert.notEqual(strange, known);
  assert.equal(accountLimit('a@example.com', '192.0.2.8', false).subject, strange);
  assert.doesNotMatch(strange! + known!, /a@example/);
});
