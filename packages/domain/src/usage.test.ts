import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketBounds, isTimeZone } from './usage.ts';
import type { BucketWidth } from './usage.ts';

const bounds = (from: string, to: string, width: BucketWidth, timeZone = 'UTC', most = 1000) =>
  bucketBounds({ startingAt: new Date(from), endingAt: new Date(to), width, timeZone }, most)?.map((at) =>
    at.toISOString().replace('.000Z', 'Z'),
  ) ?? null;

test('a range is widened to whole buckets', () => {
  assert.deepEqual(bounds('2026-01-31T12:00:30Z', '2026-01-31T12:02:00.001Z', '1m'), [
    '2026-01-31T12:00:00Z',
    '2026-01-31T12:01:00Z',
    '2026-01-31T12:02:00Z',
    '2026-01-31T12:03:00Z',
  ]);
  assert.deepEqual(bounds('2026-01-31T12:00:00Z', '2026-01-31T13:00:00Z', '1h'), [
    '2026-01-31T12:00:00Z',
    '2026-01-31T13:00:00Z',
  ]);
  assert.deepEqual(bounds('2026-02-28T23:59:59Z', '2026-03-01T00:00:01Z', '1d'), [
    '2026-02-28T00:00:00Z',
    '2026-03-01T00:00:00Z',
    '2026-03-02T00:00:00Z',
  ]);
  assert.deepEqual(bounds('2025-11-21T10:00:00Z', '2026-11-21T10:00:00Z', 'all'), [
    '2025-11-21T00:00:00Z',
    '2026-11-22T00:00:00Z',
  ]);
});

test('days are those of the time zone, 23 and 25 hours long where clocks are set', () => {
  assert.deepEqual(bounds('2026-03-28T12:00:00Z', '2026-03-29T23:00:00Z', '1d', 'Europe/Berlin'), [
    '2026-03-27T23:00:00Z',
    '2026-03-28T23:00:00Z',
    '2026-03-29T22:00:00Z',
    '2026-03-30T22:00:00Z',
  ]);
  assert.deepEqual(bounds('2026-10-25T12:00:00Z', '2026-10-25T13:00:00Z', '1d', 'Europe/Berlin'), [
    '2026-10-24T22:00:00Z',
    '2026-10-25T23:00:00Z',
  ]);
  assert.deepEqual(bounds('2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z', '1d', 'Asia/Kathmandu'), [
    '2025-12-31T18:15:00Z',
    '2026-01-01T18:15:00Z',
  ]);
});

test('a day whose midnight does not exist begins when its clocks do', () => {
  // Santiago sets its clocks from 24:00 to 01:00 and back from 24:00 to 23:00.
  assert.deepEqual(bounds('2026-09-06T12:00:00Z', '2026-09-06T13:00:00Z', '1d', 'America/Santiago'), [
    '2026-09-06T04:00:00Z',
    '2026-09-07T03:00:00Z',
  ]);
  assert.deepEqual(bounds('2026-04-04T12:00:00Z', '2026-04-04T13:00:00Z', '1d', 'America/Santiago'), [
    '2026-04-04T03:00:00Z',
    '2026-04-05T04:00:00Z',
  ]);
  // Samoa had no 30 December 2011.
  const samoa = bounds('2011-12-29T12:00:00Z', '2011-12-31T12:00:00Z', '1d', 'Pacific/Apia')!;
  assert.deepEqual(samoa, [
    '2011-12-29T10:00:00Z',
    '2011-12-30T10:00:00Z',
    '2011-12-31T10:00:00Z',
    '2012-01-01T10:00:00Z',
  ]);
});

test('more buckets than allowed are none', () => {
  assert.equal(bounds('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '1m', 'UTC', 1439), null);
  assert.equal(bounds('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '1m', 'UTC', 1440)?.length, 1441);
  assert.equal(bounds('0001-01-01T00:00:00Z', '9999-01-02T00:00:00Z', '1d', 'UTC', 1440), null);
  assert.equal(bounds('0001-01-01T00:00:00Z', '9999-01-02T00:00:00Z', '1h', 'UTC', 1440), null);
});

test('time zones are those of the IANA list', () => {
  assert.ok(isTimeZone('Europe/Berlin') && isTimeZone('UTC'));
  for (const text of ['', 'Berlin', 'Europe/Atlantis', "'; --"]) assert.equal(isTimeZone(text), false, text);
});
