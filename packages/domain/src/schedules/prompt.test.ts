import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scheduledPromptOf } from './prompt.ts';
import { firstBytes } from '../answer-delivery.ts';
import { previewOf } from './schedule.ts';

const run = {
  name: 'Morning "report"',
  prompt: 'Write it.',
  scheduledFor: new Date('2027-03-28T07:00:00Z'),
  timeZone: 'Europe/Berlin',
  attempt: 1,
  mayHaveActed: false,
  isManual: false,
};

test('a line of the host says which schedule it is, and for when, before the prompt', () => {
  assert.equal(
    scheduledPromptOf(run),
    '[scheduled run {"schedule":"Morning \\"report\\"","scheduled_for":"2027-03-28T07:00:00.000Z","local_time":"2027-03-28 09:00 Europe/Berlin"}]\nWrite it.',
  );
});

test('a further attempt says so, and that the one before may have acted', () => {
  const text = scheduledPromptOf({ ...run, attempt: 2, mayHaveActed: true });
  assert.match(text, /"attempt":2,"earlier_attempt_may_have_acted":true/);
});

test('a preview is the first lines, an event has the first bytes, in whole characters', () => {
  assert.equal(previewOf('one\ntwo'), 'one\ntwo');
  assert.equal(previewOf('x\n'.repeat(50)).split('\n').length, 12);
  assert.equal(previewOf('x'.repeat(5_000)).length, 1_000);
  assert.ok(previewOf(`${'x'.repeat(999)}\u{1f600}`).isWellFormed());
  assert.equal(firstBytes('héllo', 2), 'h');
  assert.equal(Buffer.byteLength(firstBytes('\u{1f600}'.repeat(10_000), 16_384)), 16_384);
});
