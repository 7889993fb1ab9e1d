/** Words of an agent's pages to the outside, in plain functions: what a cron expression means, and what was refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAllowed, refusedOf } from '../../apps/web/src/pages/agent/egress/refused.ts';
import { cronWords } from '../../apps/web/src/pages/agent/schedules/cron-words.ts';
import { checkTimes, timesOf, timingOf, whenWords } from '../../apps/web/src/pages/agent/schedules/times.ts';

test('a cron expression is told in a sentence', () => {
  const sentences = {
    '0 9 * * *': 'Every day at 09:00',
    '30 7 * * 1-5': 'On weekdays at 07:30',
    '0 9 * * 1,3': 'On Monday and Wednesday at 09:00',
    '0 9 1 * *': 'On day 1 of the month at 09:00',
    '*/15 * * * *': 'Every 15 minutes',
    '0 */2 * * *': 'Every 2 hours',
    '5 * * * *': 'Every hour, at minute 5',
    '0 9,12,18 * * *': 'Every day at 09:00, 12:00 and 18:00',
    '*/10 8-18 * * MON-FRI': 'Every 10 minutes of hours 8-18 on weekdays',
    '0 9 * 1,7 0': 'On Sunday in January and July at 09:00',
    'every day': null,
    '0 9 * * * *': null,
  };
  for (const [cron, sentence] of Object.entries(sentences)) assert.equal(cronWords(cron), sentence, cron);
});

/** The form that a schedule is shown in, as it is sent back. */
function formOf(timing: Parameters<typeof timesOf>[0]): FormData {
  const { kind, time, days, monthDay, count, unit, at, cron } = timesOf(timing);
  const data = new FormData();
  for (const [name, value] of Object.entries({ kind, time, month_day: monthDay, count, unit, at, cron })) {
    data.set(name, value);
  }
  for (const day of days) data.append('days', day);
  return data;
}

test('a schedule that is edited and not changed keeps its times', () => {
  const at = new Date(Date.now() + 86_400_000);
  at.setSeconds(0, 0);
  const timings = [
    { cron: '0 9 * * *' },
    { cron: '30 7 * * 1-5' },
    { cron: '0 9 * * 1,3' },
    { cron: '5 18 31 * *' },
    { cron: '*/7 3 * 2 MON' },
    { every: '90m' },
    { at: at.toISOString() },
  ];
  for (const timing of timings) {
    const form = formOf(timing);
    assert.deepEqual(checkTimes(form), {}, JSON.stringify(timing));
    assert.deepEqual(timingOf(form), timing);
    assert.notEqual(whenWords(timing), '');
  }
});

test('refusals are added up by place, and what is no place is left out', () => {
  const line = (message: string, second: number) => ({
    id: String(second),
    timestamp: new Date(second * 1000).toISOString(),
    level: 'warn' as const,
    source: 'egress' as const,
    message,
  });
  const refused = refusedOf([
    line("Refused: tcp 203.0.113.7:443 is not on the agent's allow list.", 1),
    line("Refused: the name tracker.example is not on the agent's allow list. (12 times)", 2),
    line("Refused: udp 203.0.113.7:53 is not on the agent's allow list.", 3),
    line('Refused: the name tracker.example, for the agent may reach nothing but its model broker.', 4),
    line('Refused: 17 more.', 5),
    line('Connection notes: GET /x was refused.', 6),
  ]);
  assert.deepEqual(
    refused.map(({ place, ways, count }) => [place, ways, count]),
    [
      ['tracker.example', [], 13],
      ['203.0.113.7', ['tcp 443', 'udp 53'], 2],
    ],
  );
});

test('a place is known to be allowed by its name, by a wildcard above it, and as an address', () => {
  const allow = ['pypi.org', '*.github.com', '9.9.9.9/32'];
  for (const place of ['pypi.org', 'PyPI.org', 'api.github.com', '9.9.9.9']) assert.ok(isAllowed(place, allow), place);
  for (const place of ['x.pypi.org', 'github.com', 'evilgithub.com', '9.9.9.8']) {
    assert.equal(isAllowed(place, allow), false, place);
  }
});
