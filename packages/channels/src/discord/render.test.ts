import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { discordMessageOf } from './reader.ts';
import { maxContentChars, renderDiscord } from './render.ts';

const base = { id: '1', channel_id: '2', type: 0, author: { id: '3', username: 'ann' }, content: 'hi' };

describe("Discord's texts", () => {
  test('a long answer is cut at the limit, with its fences and without half characters', () => {
    const pieces = renderDiscord(`\`\`\`py\n${'x = "😀"\n'.repeat(600)}\`\`\``);
    assert.ok(pieces.length > 2);
    for (const { text } of pieces) {
      assert.ok(text.length <= maxContentChars);
      assert.ok(text.startsWith('```py\n') && text.endsWith('```'));
      assert.ok(text.isWellFormed());
    }
  });

  test('a table is code', () => {
    assert.equal(renderDiscord('| a | b |\n|---|---|\n| 1 | 2 |')[0]!.text, '```\na  b\n-  -\n1  2\n```');
  });

  test('fields of the wrong kind make no message, or one without them', () => {
    for (const wrong of [
      null,
      7,
      [],
      { ...base, id: 7 },
      { ...base, author: null },
      { ...base, content: {}, attachments: 'x' },
      { ...base, type: '0' },
    ])
      assert.equal(discordMessageOf(wrong, '9', 'event'), null);
    const message = discordMessageOf(
      { ...base, mentions: [null, 7, { id: {} }], attachments: [{ id: 'x' }], referenced_message: 'no', member: [] },
      '9',
      'event',
    );
    assert.deepEqual(
      { ...message, sentAt: null },
      {
        id: '1',
        channelId: '2',
        isDirect: true,
        author: { id: '3', name: 'ann' },
        isForAgent: false,
        text: 'hi',
        sentAt: null,
        files: [],
      },
    );
  });

  test('an answer to the agent addresses it, and its mention at the beginning is left out', () => {
    const answer = discordMessageOf(
      { ...base, guild_id: '5', type: 19, referenced_message: { author: { id: '9' } } },
      '9',
      'event',
    );
    assert.equal(answer!.isForAgent, true);
    const mention = discordMessageOf(
      { ...base, guild_id: '5', content: '<@!9>: do it', mentions: [{ id: '9' }] },
      '9',
      'event',
    );
    assert.equal(mention!.text, 'do it');
    assert.equal(discordMessageOf({ ...base, guild_id: '5', content: '' }, '9', 'event'), null);
  });

  test('hostile texts take time in proportion to their length', () => {
    for (const content of ['<@'.repeat(30_000), '<@!1'.repeat(15_000), '<@1>'.repeat(15_000)]) {
      const before = performance.now();
      discordMessageOf(
        { ...base, content, mentions: Array.from({ length: 100 }, () => ({ id: '1', username: 'x'.repeat(200) })) },
        '9',
        'event',
      );
      assert.ok(performance.now() - before < 500);
    }
  });
});
