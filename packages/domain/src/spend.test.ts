import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitsExceededBy, nearLimits, reachedLimits, reachedWords, spendWindow } from './spend.ts';
import type { SpendStanding } from './spend.ts';

const standing = (limitUsd: string, spentUsd: string, rest: Partial<SpendStanding> = {}): SpendStanding => ({
  scope: 'agent',
  period: 'day',
  limitUsd,
  spentUsd,
  inFlightUsd: '0',
  action: 'block',
  ...rest,
});
const crowded = (spentUsd: string, inFlightUsd: string, estimateUsd: string | null, limitUsd = '1'): number =>
  limitsExceededBy([standing(limitUsd, spentUsd, { inFlightUsd })], estimateUsd).length;

test('windows are days and months of UTC: the last moment of one is before the first of the next', () => {
  const last = new Date('2026-12-31T23:59:59.999Z');
  assert.deepEqual(spendWindow('day', last).end, new Date('2027-01-01T00:00:00Z'));
  assert.deepEqual(spendWindow('month', last), {
    start: new Date('2026-12-01T00:00:00Z'),
    end: new Date('2027-01-01T00:00:00Z'),
  });
  const leap = new Date('2028-02-29T12:00:00Z');
  assert.deepEqual(spendWindow('month', leap).end, new Date('2028-03-01T00:00:00Z'));
  assert.deepEqual(spendWindow('day', new Date('2027-01-01T00:00:00Z')).start, new Date('2027-01-01T00:00:00Z'));
});

test('a limit is reached when it is spent to the last billionth, and near from four fifths on', () => {
  assert.equal(reachedLimits([standing('1', '0.999999999')]).length, 0);
  assert.equal(reachedLimits([standing('1', '1.000000000')]).length, 1);
  assert.equal(reachedLimits([standing('0.3', '0.30')]).length, 1);
  assert.equal(nearLimits([standing('1', '0.799999999')]).length, 0);
  assert.equal(nearLimits([standing('1', '0.8')]).length, 1);
  // As floats, 0.1 + 0.2 is more than 0.3.
  assert.equal(crowded('0.1', '0.1', '0.1', '0.3'), 0);
});

test('a call is held back by those under way, and one that is alone only by what is spent', () => {
  assert.equal(crowded('0.5', '0.3', '0.2'), 0);
  assert.equal(crowded('0.5', '0.3', '0.200001'), 1);
  assert.equal(crowded('0.5', '0', '64'), 0);
  assert.equal(crowded('0.5', '0.3', null), 0);
  assert.equal(crowded('0.5', '0.6', null), 1);
});

test('what is said of a limit names whose it is, how much, and when the last of the windows ends', () => {
  const at = new Date('2026-11-21T10:00:00Z');
  const day = reachedWords([standing('5', '5')], at);
  assert.equal(
    day.message,
    "The agent's spend limit of $5 a day is reached. Model calls are refused until 2026-11-22T00:00:00Z, or until it is raised.",
  );
  const month = reachedWords([standing('5', '5'), standing('9', '9', { scope: 'account', period: 'month' })], at);
  assert.match(month.message, /^The account's spend limit of \$9 a month/);
  assert.deepEqual(month.until, new Date('2026-12-01T00:00:00Z'));
});
