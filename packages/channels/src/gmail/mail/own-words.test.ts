import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ownWords } from './own-words.ts';

const answer = (...lines: readonly string[]): string => ownWords(lines.join('\n'), true);

describe('the words of an answer', () => {
  const introductions: readonly (readonly string[])[] = [
    ['On Sun, Nov 22, 2026 at 10:00 AM Agent <agent@example.com> wrote:'],
    ['On Sun, Nov 22, 2026 at 10:00 AM The Agent With A Long Name', '<agent@example.com> wrote:'],
    ['Am So., 22. Nov. 2026 um 10:00 Uhr schrieb Agent <agent@example.com>:'],
    ['Le dim. 22 nov. 2026 à 10:00, Agent <agent@example.com> a écrit :'],
    ['El dom, 22 nov 2026 a las 10:00, Agent (<agent@example.com>) escribió:'],
    ['Il giorno dom 22 nov 2026 alle ore 10:00 Agent <agent@example.com> ha scritto:'],
    ['2026年11月22日(日) 10:00 Agent <agent@example.com>:'],
    ['Agent <agent@example.com> 于2026年11月22日周日 10:00写道:'],
  ];
  for (const introduction of introductions) {
    test(`stand before the quote: ${introduction[0]!.slice(0, 30)}`, () => {
      const given = answer('Yes, please.', '', 'Ann', '', ...introduction, '', '> Shall I?', '>', '> > Old.');
      assert.ok(given.startsWith('Yes, please.\n\nAnn'), given);
      assert.ok(!given.includes('>'), given);
    });
  }

  test('stand before an older mail as Outlook has it', () => {
    const header = [
      'From: Agent <agent@example.com>',
      'Sent: Sunday, 22 November 2026 10:00',
      'To: Ann',
      'Subject: Re: x',
    ];
    assert.equal(answer('Yes.', '', '________________________________', ...header, '', 'Shall I?'), 'Yes.');
    assert.equal(answer('Ja.', '', '-----Ursprüngliche Nachricht-----', 'Von: Agent', 'Soll ich?'), 'Ja.');
    assert.equal(answer('Yes.', '', '*From:* Agent', '*Sent:* Sunday', '', 'Shall I?'), 'Yes.');
  });

  test('stand before a quote without marks', () => {
    assert.equal(answer('Yes.', '', 'On 22.11.2026 10:00, Agent wrote:', 'Shall I?'), 'Yes.');
  });

  test('that stand between quotes are kept with them', () => {
    const lines = ['On Sun, 22 Nov 2026 at 10:00 Agent wrote:', '> First?', 'Yes.', '> Second?', 'No.'];
    assert.equal(answer(...lines), lines.join('\n'));
    assert.equal(answer(...lines, '', '> -- ', '> Agent'), lines.join('\n'));
  });

  test('have no signature below them', () => {
    assert.equal(answer('Yes.', '', '-- ', 'Ann Example', 'Example Ltd.'), 'Yes.');
    assert.equal(answer('Yes.', '', 'Sent from my iPhone'), 'Yes.');
    assert.equal(answer('Yes.', '-- ', 'Ann', '', 'On 22 Nov 2026, at 10:00, Agent wrote:', '', '> x'), 'Yes.');
  });

  test('are all there when they look like something else', () => {
    for (const text of [
      'On Monday I wrote: nothing.',
      'From: here to there\nand back.',
      'Cheers,\nand one more question: why?',
      'a\n---\nb',
      'The list:\n- one\n-- two',
      '> only a quote',
      'Regards',
      'I was there in 2026:\nit rained.',
    ])
      assert.equal(ownWords(text, true), text);
  });
});

test('a mail that answers nothing has no older mail to cut: what is forwarded stays', () => {
  const forwarded = 'What is this?\n\n---------- Forwarded message ---------\nFrom: Bob\nDate: today\n\n> Old.';
  assert.equal(ownWords(forwarded, false), forwarded);
});

test('what would leave nothing is left as it is', () => {
  assert.equal(answer('> quoted', '> alone'), '> quoted\n> alone');
  assert.equal(ownWords('', true), '');
});

test('hostile texts take time in proportion to their length', () => {
  for (const text of [
    'On '.repeat(60_000),
    'on \n'.repeat(60_000),
    'From:\n'.repeat(40_000),
    `${'>\n'.repeat(100_000)}x`,
    '-'.repeat(250_000),
    'a 2026:\n> \n'.repeat(20_000),
    ' \n'.repeat(120_000),
    'Am 20\nschrieb\n'.repeat(15_000),
  ]) {
    const before = process.cpuUsage();
    ownWords(text, true);
    const tookMs = process.cpuUsage(before).user / 1_000;
    assert.ok(tookMs < 1_000, `${JSON.stringify(text.slice(0, 12))} took ${tookMs} ms`);
  }
});
