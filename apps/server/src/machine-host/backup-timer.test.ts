/** A backup is due once for each of its times, and a missed one is made later. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDue } from './backup-timer.ts';

const at = (text: string): number => Date.parse(`2026-01-${text}:00Z`);
const times = [3 * 60 + 30, 15 * 60 + 30];

test('due when a time has come since the last one began, however long ago', () => {
  const due: readonly (readonly [string | null, string, boolean])[] = [
    [null, '05T00:00', true],
    ['05T03:30', '05T03:31', false],
    ['05T03:29', '05T03:30', true],
    ['05T03:31', '05T15:29', false],
    ['05T03:31', '05T15:30', true],
    ['05T16:00', '06T03:29', false],
    ['05T16:00', '06T03:30', true],
    ['05T15:00', '06T00:10', true],
    ['01T04:00', '09T01:00', true],
  ];
  for (const [last, now, wanted] of due) {
    const lastAt = last === null ? null : new Date(at(last)).toISOString();
    assert.equal(isDue(times, lastAt, at(now)), wanted, `${last} ${now}`);
  }
});
