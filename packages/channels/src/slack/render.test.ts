import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tablesAsCode } from '../shared/tables.ts';
import { mrkdwnOf, renderSlack } from './render.ts';
import { readableText, withoutMention } from './text-in.ts';

describe("Slack's texts", () => {
  test('nobody is rung at by an answer', () => {
    for (const broadcast of ['<!channel>', '<!here|here>', '<!subteam^S1>']) {
      assert.ok(!renderSlack(`hello ${broadcast}`)[0]!.text.includes('<!'));
      assert.ok(!mrkdwnOf(`hello ${broadcast}`).includes('<!'));
    }
  });

  test('a table is code whose columns stand under each other', () => {
    const table = ['Look:', '| a | bee |', '|---|:-:|', '| **long** | c |', '', 'Done | so'].join('\n');
    assert.equal(
      tablesAsCode(table),
      ['Look:', '```', 'a     bee', '----  ---', 'long  c', '```', '', 'Done | so'].join('\n'),
    );
  });

  test('what is no table, or stands in code, stays as it is', () => {
    for (const text of ['a | b', '```\n| a |\n|---|\n```', '|---|', 'a|b\nc|d', ''])
      assert.equal(tablesAsCode(text), text);
  });

  test('wide rows among many short ones do not make a text many times as long', () => {
    const rows = [
      '|-|',
      `|${'x'.repeat(30)}`.repeat(60),
      '|-|'.repeat(60),
      ...Array.from({ length: 2_000 }, () => '|'.repeat(60)),
    ];
    assert.ok(tablesAsCode(rows.join('\n')).length < 8 * rows.join('\n').length);
  });

  test('a mention at the beginning is left out, and any other stays', () => {
    assert.equal(withoutMention('<@U1>: do it', 'U1'), 'do it');
    assert.equal(withoutMention('  <@U1|agent> do it', 'U1'), 'do it');
    assert.equal(withoutMention('<@U12> do it', 'U1'), '<@U12> do it');
    assert.equal(readableText('ask <@U2> &amp;lt;'), 'ask <@U2> &lt;');
  });

  test('hostile texts take time in proportion to their length', () => {
    const hostile = [
      '<'.repeat(500_000),
      '<>'.repeat(250_000),
      '[](http'.repeat(70_000),
      '`'.repeat(500_000),
      '|-'.repeat(200_000),
      '|\n-|\n'.repeat(100_000),
    ];
    for (const text of hostile) {
      for (const turn of [readableText, mrkdwnOf, tablesAsCode, (given: string) => withoutMention(given, 'U1')]) {
        const before = performance.now();
        turn(text);
        assert.ok(performance.now() - before < 1_500, text.slice(0, 10));
      }
    }
  });
});
