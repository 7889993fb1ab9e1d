import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cronTrouble, isZoneName } from './cron.ts';
import { everyMsOf, firingOf, jitterMs, nextTime, timeAgain } from './timing.ts';
import type { Timing } from './timing.ts';

/**
 * Times calculated by another implementation: a scan of every minute over another library's copy of the time zone database,
 * with the rules that `cron.ts` states. A whole day that never was has no run, because Croner keeps a time within its day.
 */
const table: readonly (readonly [what: string, cron: string, zone: string, after: string, times: readonly string[]])[] =
  [
    [
      'fixed in a gap',
      '30 2 * * *',
      'Europe/Berlin',
      '2027-03-27T12:00Z',
      ['2027-03-28T01:00Z', '2027-03-29T00:30Z', '2027-03-30T00:30Z'],
    ],
    [
      'list in a gap comes once',
      '15,45 2 * * *',
      'Europe/Berlin',
      '2027-03-27T12:00Z',
      ['2027-03-28T01:00Z', '2027-03-29T00:15Z', '2027-03-29T00:45Z'],
    ],
    ['edge of a gap', '0 3 * * *', 'Europe/Berlin', '2027-03-27T12:00Z', ['2027-03-28T01:00Z', '2027-03-29T01:00Z']],
    ['begin of a gap', '0 2 * * *', 'Europe/Berlin', '2027-03-27T12:00Z', ['2027-03-28T01:00Z', '2027-03-29T00:00Z']],
    ['before a gap', '59 1 * * *', 'Europe/Berlin', '2027-03-27T12:00Z', ['2027-03-28T00:59Z', '2027-03-28T23:59Z']],
    [
      'in a gap',
      '30 2 * * *',
      'America/New_York',
      '2027-03-13T12:00Z',
      ['2027-03-14T07:00Z', '2027-03-15T06:30Z', '2027-03-16T06:30Z'],
    ],
    [
      'in a gap',
      '30 1 * * *',
      'Europe/London',
      '2027-03-27T12:00Z',
      ['2027-03-28T01:00Z', '2027-03-29T00:30Z', '2027-03-30T00:30Z'],
    ],
    [
      'in a gap at midnight',
      '0 0 * * *',
      'Africa/Cairo',
      '2027-04-28T12:00Z',
      ['2027-04-28T22:00Z', '2027-04-29T22:00Z', '2027-04-30T21:00Z'],
    ],
    [
      'in a gap at midnight',
      '30 0 * * *',
      'Asia/Beirut',
      '2027-03-27T12:00Z',
      ['2027-03-27T22:00Z', '2027-03-28T21:30Z', '2027-03-29T21:30Z'],
    ],
    [
      'in a gap, Sundays',
      '30 2 * * 0',
      'America/Chicago',
      '2027-03-08T12:00Z',
      ['2027-03-14T08:00Z', '2027-03-21T07:30Z', '2027-03-28T07:30Z'],
    ],
    [
      'fixed, twice',
      '30 2 * * *',
      'Europe/Berlin',
      '2027-10-30T12:00Z',
      ['2027-10-31T00:30Z', '2027-11-01T01:30Z', '2027-11-02T01:30Z'],
    ],
    [
      'fixed, after the first pass',
      '30 2 * * *',
      'Europe/Berlin',
      '2027-10-31T00:45Z',
      ['2027-11-01T01:30Z', '2027-11-02T01:30Z'],
    ],
    [
      'fixed, within the second pass',
      '45 2 * * *',
      'Europe/Berlin',
      '2027-10-31T01:10Z',
      ['2027-11-01T01:45Z', '2027-11-02T01:45Z'],
    ],
    [
      'list, twice',
      '15,45 1 * * *',
      'America/New_York',
      '2027-11-06T12:00Z',
      ['2027-11-07T05:15Z', '2027-11-07T05:45Z', '2027-11-08T06:15Z', '2027-11-08T06:45Z'],
    ],
    [
      'fixed, twice',
      '30 1 * * *',
      'Europe/London',
      '2027-10-30T12:00Z',
      ['2027-10-31T00:30Z', '2027-11-01T01:30Z', '2027-11-02T01:30Z'],
    ],
    [
      'range of hours',
      '0 0-3 * * *',
      'Europe/Berlin',
      '2027-10-30T21:30Z',
      ['2027-10-30T22:00Z', '2027-10-30T23:00Z', '2027-10-31T00:00Z', '2027-10-31T02:00Z', '2027-10-31T23:00Z'],
    ],
    [
      'midnight twice',
      '30 23 * * *',
      'Africa/Cairo',
      '2027-10-28T12:00Z',
      ['2027-10-28T20:30Z', '2027-10-29T21:30Z', '2027-10-30T21:30Z'],
    ],
    [
      'wild over a gap',
      '*/30 * * * *',
      'Europe/Berlin',
      '2027-03-28T00:00Z',
      ['2027-03-28T00:30Z', '2027-03-28T01:00Z', '2027-03-28T01:30Z', '2027-03-28T02:00Z'],
    ],
    [
      'hourly over a gap',
      '0 * * * *',
      'America/New_York',
      '2027-03-14T05:30Z',
      ['2027-03-14T06:00Z', '2027-03-14T07:00Z', '2027-03-14T08:00Z', '2027-03-14T09:00Z'],
    ],
    [
      'wild over an overlap',
      '*/30 * * * *',
      'Europe/Berlin',
      '2027-10-31T00:00Z',
      [
        '2027-10-31T00:30Z',
        '2027-10-31T01:00Z',
        '2027-10-31T01:30Z',
        '2027-10-31T02:00Z',
        '2027-10-31T02:30Z',
        '2027-10-31T03:00Z',
      ],
    ],
    [
      'hourly over an overlap',
      '0 * * * *',
      'America/New_York',
      '2027-11-07T04:30Z',
      ['2027-11-07T05:00Z', '2027-11-07T06:00Z', '2027-11-07T07:00Z', '2027-11-07T08:00Z'],
    ],
    [
      'every second hour over a gap',
      '0 */2 * * *',
      'Europe/Berlin',
      '2027-03-27T23:30Z',
      ['2027-03-28T02:00Z', '2027-03-28T04:00Z', '2027-03-28T06:00Z', '2027-03-28T08:00Z'],
    ],
    [
      'in a gap',
      '30 2 * * *',
      'Australia/Sydney',
      '2027-10-02T00:00Z',
      ['2027-10-02T16:00Z', '2027-10-03T15:30Z', '2027-10-04T15:30Z'],
    ],
    [
      'twice',
      '30 2 * * *',
      'Australia/Sydney',
      '2027-04-03T00:00Z',
      ['2027-04-03T15:30Z', '2027-04-04T16:30Z', '2027-04-05T16:30Z'],
    ],
    [
      'gap of half an hour',
      '15 2 * * *',
      'Australia/Lord_Howe',
      '2027-10-02T00:00Z',
      ['2027-10-02T15:30Z', '2027-10-03T15:15Z', '2027-10-04T15:15Z'],
    ],
    [
      'overlap of half an hour',
      '45 1 * * *',
      'Australia/Lord_Howe',
      '2027-04-02T00:00Z',
      ['2027-04-02T14:45Z', '2027-04-03T14:45Z', '2027-04-04T15:15Z'],
    ],
    [
      'wild, overlap of half an hour',
      '*/15 * * * *',
      'Australia/Lord_Howe',
      '2027-04-03T14:20Z',
      ['2027-04-03T14:30Z', '2027-04-03T14:45Z', '2027-04-03T15:00Z', '2027-04-03T15:15Z', '2027-04-03T15:30Z'],
    ],
    [
      'in a gap',
      '30 2 * * *',
      'Pacific/Auckland',
      '2027-09-25T00:00Z',
      ['2027-09-25T14:00Z', '2027-09-26T13:30Z', '2027-09-27T13:30Z'],
    ],
    [
      'twice',
      '30 2 * * *',
      'Pacific/Auckland',
      '2027-04-03T00:00Z',
      ['2027-04-03T13:30Z', '2027-04-04T14:30Z', '2027-04-05T14:30Z'],
    ],
    [
      'in a gap at midnight',
      '15 0 * * *',
      'America/Santiago',
      '2027-09-04T00:00Z',
      ['2027-09-04T04:15Z', '2027-09-05T04:00Z', '2027-09-06T03:15Z'],
    ],
    [
      'twice before midnight',
      '30 23 * * *',
      'America/Santiago',
      '2027-04-02T00:00Z',
      ['2027-04-02T02:30Z', '2027-04-03T02:30Z', '2027-04-04T02:30Z'],
    ],
    [
      'gap of an hour at 02:45',
      '0 3 * * *',
      'Pacific/Chatham',
      '2027-09-24T00:00Z',
      ['2027-09-24T14:15Z', '2027-09-25T14:00Z', '2027-09-26T13:15Z'],
    ],
    [
      'no daylight saving, half an hour',
      '0 9 * * *',
      'Asia/Kolkata',
      '2027-03-27T12:00Z',
      ['2027-03-28T03:30Z', '2027-03-29T03:30Z'],
    ],
    ['three quarters', '0 9 * * *', 'Asia/Kathmandu', '2027-03-27T12:00Z', ['2027-03-28T03:15Z', '2027-03-29T03:15Z']],
    ['UTC', '0 9 * * 1-5', 'UTC', '2027-03-26T12:00Z', ['2027-03-29T09:00Z', '2027-03-30T09:00Z']],
    [
      'a day that never was',
      '0 12 * * *',
      'Pacific/Apia',
      '2011-12-28T23:00Z',
      ['2011-12-29T22:00Z', '2011-12-30T22:00Z', '2011-12-31T22:00Z'],
    ],
    [
      'weekdays at nine over a gap',
      '0 9 * * 1-5',
      'America/New_York',
      '2027-03-12T15:00Z',
      ['2027-03-15T13:00Z', '2027-03-16T13:00Z'],
    ],
    ['leap day', '0 0 29 2 *', 'Asia/Tokyo', '2027-12-31T00:00Z', ['2028-02-28T15:00Z']],
    [
      'day or weekday',
      '0 0 13 * 5',
      'Europe/Berlin',
      '2027-08-07T00:00Z',
      ['2027-08-12T22:00Z', '2027-08-19T22:00Z', '2027-08-26T22:00Z'],
    ],
    [
      'Ramadan clocks',
      '30 2 * * *',
      'Africa/Casablanca',
      '2026-02-14T12:00Z',
      ['2026-02-15T01:30Z', '2026-02-16T02:30Z', '2026-02-17T02:30Z'],
    ],
    [
      'negative daylight saving time',
      '30 1 * * *',
      'Europe/Dublin',
      '2027-10-30T12:00Z',
      ['2027-10-31T00:30Z', '2027-11-01T01:30Z', '2027-11-02T01:30Z'],
    ],
  ];

for (const [what, cron, timeZone, after, times] of table) {
  test(`${cron} in ${timeZone} after ${after}: ${what}`, () => {
    const found: string[] = [];
    let at: Date | null = new Date(after);
    while (found.length < times.length && at !== null) {
      at = nextTime({ kind: 'cron', cron, timeZone }, at);
      if (at !== null) found.push(at.toISOString().replace(':00.000Z', 'Z'));
    }
    assert.deepEqual(found, times);
  });
}

const hourly: Timing = { kind: 'cron', cron: '0 * * * *', timeZone: 'UTC' };
const daily: Timing = { kind: 'cron', cron: '0 9 * * *', timeZone: 'Europe/Berlin' };
const quarterly: Timing = { kind: 'every', everyMs: 900_000, anchor: new Date('2027-05-10T12:07:00Z') };
const once: Timing = { kind: 'at', at: new Date('2027-05-10T12:00:00Z') };
const date = (text: string): Date => new Date(text);

test('intervals are whole from where they began, before it too', () => {
  assert.deepEqual(nextTime(quarterly, date('2027-05-10T12:07:00Z')), date('2027-05-10T12:22:00Z'));
  assert.deepEqual(nextTime(quarterly, date('2027-05-11T00:00:00Z')), date('2027-05-11T00:07:00Z'));
  assert.deepEqual(nextTime(quarterly, date('2027-05-09T00:00:00Z')), date('2027-05-09T00:07:00Z'));
});

test('one time comes once', () => {
  assert.deepEqual(nextTime(once, date('2027-05-10T11:59:59Z')), date('2027-05-10T12:00:00Z'));
  assert.equal(nextTime(once, date('2027-05-10T12:00:00Z')), null);
  const firing = firingOf(once, date('2027-05-10T12:00:00Z'), date('2027-06-10T12:00:00Z'));
  assert.deepEqual(firing, { scheduledFor: date('2027-05-10T12:00:00Z'), missedFrom: null, next: null });
});

test('a time that has come is followed by the next', () => {
  assert.deepEqual(firingOf(daily, date('2027-05-10T07:00:00Z'), date('2027-05-10T07:00:01Z')), {
    scheduledFor: date('2027-05-10T07:00:00Z'),
    missedFrom: null,
    next: date('2027-05-11T07:00:00Z'),
  });
});

test('a clock that goes ahead by a day, or a downtime of one: one run, and the rest is missed', () => {
  assert.deepEqual(firingOf(hourly, date('2027-05-10T12:00:00Z'), date('2027-05-11T12:30:00Z')), {
    scheduledFor: date('2027-05-10T12:00:00Z'),
    missedFrom: date('2027-05-10T13:00:00Z'),
    next: date('2027-05-11T13:00:00Z'),
  });
  assert.equal(firingOf(daily, date('2027-05-10T07:00:00Z'), date('2027-05-11T06:00:00Z')).missedFrom, null);
});

test('a clock that goes back by a day: no time is repeated, none that had no run is left out', () => {
  const now = date('2027-05-10T06:30:00Z');
  const ran = new Set([date('2027-05-10T07:00:00Z').getTime()]);
  assert.deepEqual(timeAgain(daily, now, ran), date('2027-05-11T07:00:00Z'));
  assert.deepEqual(timeAgain(daily, now, new Set()), date('2027-05-10T07:00:00Z'));
  assert.deepEqual(timeAgain(quarterly, now, new Set()), date('2027-05-10T06:45:00Z'));
  assert.equal(timeAgain(once, now, new Set([once.at.getTime()])), null);
});

test('intervals are minutes, hours or days', () => {
  assert.equal(everyMsOf('15m'), 900_000);
  assert.equal(everyMsOf('2h'), 7_200_000);
  assert.equal(everyMsOf('1d'), 86_400_000);
  for (const wrong of ['', '0m', '30s', '15', 'm', '1.5h', '-1m', '367d', '999999d', '15 m', '15M', '1e3m']) {
    assert.equal(everyMsOf(wrong), null, wrong);
  }
});

test('zones are names of the time zone database', () => {
  for (const zone of ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'])
    assert.ok(isZoneName(zone));
  for (const zone of ['', ' ', '+02:00', '-05', 'Mars/Base', 'x'.repeat(65), 'Europe/Berlin\0']) {
    assert.ok(!isZoneName(zone), zone);
  }
});

test('what is no cron expression is told, and so is one that never comes', () => {
  const now = date('2027-05-10T12:00:00Z');
  for (const good of ['0 9 * * 1-5', '*/5 * * * *', '0 9 * * MON-FRI', '0 0 L * *', '0 0 29 2 *', '  0 9 * * *  ']) {
    assert.equal(cronTrouble(good, now), null, good);
  }
  for (const wrong of [
    '',
    '@daily',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '0 25 * * *',
    '*/0 * * * *',
    'a b c d e',
  ]) {
    assert.notEqual(cronTrouble(wrong, now), null, wrong);
  }
  assert.equal(cronTrouble('0 0 31 2 *', now), 'never comes');
  assert.match(cronTrouble(`${'0,'.repeat(60)}0 * * * *`, now)!, /at most 100/);
});

test('an expression that was made to be slow is not', () => {
  const before = process.cpuUsage();
  const zone = 'America/New_York';
  for (const cron of ['0 0 31 2,4,6,9,11 *', '0 0 30 2 *', '0 0 29 2 1#5', '59 23 L 2 *', '30 2 14 3 *']) {
    nextTime({ kind: 'cron', cron, timeZone: zone }, date('2027-05-10T12:00:00Z'));
  }
  assert.ok(process.cpuUsage(before).user < 1e6);
});

test('200 agents that are due at once begin within a minute, few of them in one second', () => {
  const offsets = Array.from({ length: 200 }, (_, n) => jitterMs(`agent${n}`, 200));
  const seconds = new Map<number, number>();
  for (const ms of offsets) seconds.set(Math.floor(ms / 1_000), (seconds.get(Math.floor(ms / 1_000)) ?? 0) + 1);
  assert.ok(Math.max(...offsets) < 60_000);
  assert.ok(Math.max(...seconds.values()) <= 16, `${Math.max(...seconds.values())} in one second`);
  assert.equal(jitterMs('agent1', 5), 0);
  assert.equal(jitterMs('agent1', 200), jitterMs('agent1', 200));
});
