/** The sums of the pages of usage: the forecast of a month, and the series of a plot that are shown as one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { largestSeries } from '../../apps/web/src/components/plot/figures.ts';
import { forecastOf } from '../../apps/web/src/pages/usage/report/forecast.ts';

type Usage = Parameters<typeof forecastOf>[0];

/** A report of these days' model calls, in US dollars by day of November. */
const november = (days: Readonly<Record<number, string>>): Usage =>
  ({
    data: Object.entries(days).map(([day, llm]) => ({
      starting_at: new Date(Date.UTC(2026, 10, Number(day))).toISOString(),
      cost: { llm },
    })),
  }) as unknown as Usage;

const noon = Date.UTC(2026, 10, 20, 12);

test('a month is expected to go on at the average of the last whole days on which anything was spent', () => {
  const spent = { 10: '100', 17: '1', 18: '0', 19: '2', 20: '0.5' };
  const { expected, spentUsd, points } = forecastOf(november(spent), null, noon);
  assert.equal(spentUsd, 103.5);
  assert.deepEqual([expected?.perDayUsd, expected?.days], [1, 3], 'since the 17th, without today');
  // Half of today and ten days are left.
  assert.equal(expected?.totalUsd, 103.5 + 10.5);
  assert.equal(points.length, 30);
  assert.deepEqual(points[19]?.values, { spent: 103.5, expected: 103.5 });
  assert.deepEqual(Object.keys(points[20]!.values), ['expected']);
});

test('the day is told on which a limit is reached, and none without a whole day to go by', () => {
  const spent = november({ 18: '2', 19: '2' });
  assert.equal(forecastOf(spent, 9, noon).expected?.limitAt, Date.UTC(2026, 10, 22));
  assert.equal(forecastOf(spent, 1000, noon).expected?.limitAt, null);
  assert.equal(forecastOf(spent, 3, noon).expected?.limitAt, Date.UTC(2026, 10, 20), 'it is reached already');
  assert.equal(forecastOf(november({ 20: '5' }), 9, noon).expected, null);
  assert.equal(forecastOf(november({}), 9, noon).expected, null);
});

test('a plot has six series at most: the largest ones, and the others summed up', () => {
  const series = Array.from({ length: 9 }, (_, index) => ({ key: `m${index}`, name: `Model ${index}` }));
  const values = Object.fromEntries(series.map(({ key }, index) => [key, index + 1]));
  const found = largestSeries(series, [{ label: '1 Nov', values }]);
  assert.deepEqual(
    found.series.map(({ name }) => name),
    ['Model 8', 'Model 7', 'Model 6', 'Model 5', 'Model 4', '4 others'],
  );
  assert.deepEqual(found.points[0]!.values, { m8: 9, m7: 8, m6: 7, m5: 6, m4: 5, other: 10 });
});
