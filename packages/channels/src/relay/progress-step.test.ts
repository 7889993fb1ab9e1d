import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ShownProgress } from '@lodge/ports';
import { newlyKnown, stepOf, textOf } from './progress-step.ts';
import type { Known, Step } from './progress-step.ts';

const afterMs = 8_000;
const row: ShownProgress = {
  agentId: 'a',
  channel: 'telegram',
  number: 1,
  conversationId: 'c',
  claim: 4,
  said: '',
  posted: null,
  isAnswering: false,
  isSending: false,
};
const posted = { id: 'm1', claim: 4 };
const known = (given: Partial<Known> = {}): Known => ({ ...newlyKnown(4, 1_000), ...given });
const step = (given: Partial<ShownProgress>, one: Known = known(), now = 9_000): Step | null =>
  stepOf({ ...row, ...given }, one, now, afterMs);

describe('progress of a turn', () => {
  test('is shown once it lasts so long', () => {
    assert.equal(step({}, known(), 8_999), null);
    assert.deepEqual(step({}), { do: 'post', text: 'Working…', claim: 4 });
    assert.deepEqual(step({ said: ' I look. ' }), { do: 'post', text: 'Working…\n\nI look.', claim: 4 });
  });

  test('is edited when there is something new, and not before its time', () => {
    const one = known({ text: 'Working…', dueAt: 14_000 });
    assert.equal(step({ posted }, one, 15_000), null);
    assert.equal(step({ posted, said: 'One.' }, one, 13_999), null);
    assert.deepEqual(step({ posted, said: 'One.' }, one, 14_000), { do: 'edit', text: 'Working…\n\nOne.', id: 'm1' });
  });

  test('gives way to whatever is to be sent', () => {
    assert.equal(step({ isSending: true }), null);
    assert.equal(step({ posted, said: 'One.', isSending: true }), null);
  });

  test('stays until the answer is sent, then it is taken away, whatever else the channel sends', () => {
    assert.equal(step({ posted, claim: null, isAnswering: true, isSending: true }), null);
    assert.deepEqual(step({ posted, claim: null, isSending: true }), { do: 'remove', id: 'm1' });
  });

  test('of an earlier turn is taken away before the next one shows its own', () => {
    const next = newlyKnown(5, 1_000);
    assert.equal(step({ posted, claim: 5, isAnswering: true, isSending: true }, next), null);
    assert.deepEqual(step({ posted, claim: 5 }, next), { do: 'remove', id: 'm1' });
    assert.deepEqual(step({ claim: 5 }, next), { do: 'post', text: 'Working…', claim: 5 });
  });

  test('that another relay posted is edited at once, and taken away', () => {
    const one = newlyKnown(4, 9_000);
    assert.deepEqual(step({ posted }, one), { do: 'edit', text: 'Working…', id: 'm1' });
    assert.deepEqual(step({ posted, claim: null }, newlyKnown(null, 9_000)), { do: 'remove', id: 'm1' });
  });

  test('that was given up shows nothing more, and is taken away all the same', () => {
    const one = known({ isGivenUp: true });
    assert.equal(step({}, one), null);
    assert.equal(step({ posted, said: 'One.' }, one), null);
    assert.deepEqual(step({ posted, claim: null }, one), { do: 'remove', id: 'm1' });
  });

  test('is nothing where no turn is under way', () => assert.equal(step({ claim: null }), null));
});

describe('the text of progress', () => {
  test('is the end of a long one, from a word on, and never half a character', () => {
    const long = textOf(`${'word '.repeat(1_000)}end`);
    assert.match(long, /^Working…\n\n…word [^]* end$/);
    assert.ok(long.length <= 612, String(long.length));
    for (const odd of ['', 'x']) {
      const text = textOf(`${'😀'.repeat(1_000)}${odd}`);
      assert.ok(text.isWellFormed() && text.length <= 612);
      assert.ok(text.startsWith('Working…\n\n…😀'));
    }
    assert.equal(textOf(' \n '), 'Working…');
  });
});
