import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import stringWidth from 'string-width';
import { hostileStrings, obeyedIn } from '../../../../tests/hands/cli/hostile-strings.ts';
import { LiveAnswer } from '../chat/live.ts';
import { markdown } from './markdown.ts';
import { Output } from './output.ts';

function screen(env: Record<string, string> = { NO_COLOR: '1' }): {
  readonly out: Output;
  readonly shown: () => string;
} {
  let shown = '';
  const stdout = {
    isTTY: true,
    columns: 40,
    rows: 20,
    write: (text: string | Uint8Array) => ((shown += String(text)), true),
  };
  return { out: new Output({ stdout, stderr: stdout, env, isJson: false }), shown: () => shown };
}

describe('Markdown at a terminal', () => {
  test('blocks are laid out in the columns there are', () => {
    const { out } = screen();
    const text = [
      '# Title',
      'A paragraph of *several* words that **goes on** until it is wider than the screen, with `code`.',
      '- one\n- two\n  - below',
      '3. three\n4. four',
      '> a quote',
      '```sh\nls -l   # as it is\n```',
      '| a | b |\n|---|---|\n| 1 | 2 |',
      'A [link](https://example.com/x) &amp; more.',
    ].join('\n\n');
    const made = markdown(text, out);
    assert.equal(
      made,
      `Title

A paragraph of several words that goes
on until it is wider than the screen,
with code.

• one
• two
  • below

3. three
4. four

| a quote

  ls -l   # as it is

A  B
1  2

A link (https://example.com/x) & more.
`,
    );
    assert.ok(made.split('\n').every((line) => stringWidth(line) <= 40));
  });

  test('no hostile string sends anything to the terminal, in any place', () => {
    const { out } = screen();
    for (const text of [...hostileStrings, '&#27;[31m', '&#x9b;31m', '<b>\x1b[1m</b>']) {
      const places = [text, `# ${text}`, `**${text}**`, `\`${text}\``, `[${text}](${text})`, `- ${text}`, `> ${text}`];
      for (const place of [...places, `\`\`\`${text}\n${text}\n\`\`\``, `| ${text} |\n|---|\n| ${text} |`])
        assert.equal(obeyedIn(markdown(place, out)), null, JSON.stringify(place));
    }
  });

  test('text that is nested deeply or is large takes little time', () => {
    const { out } = screen();
    const began = performance.now();
    for (const piece of ['>', '[', '*', '_', '- ', '`', '![', '|', '<', '> - ', '**a ', '&', '\\', '1. ', '~~', 'a@'])
      for (const size of [1000, 16_000]) markdown(piece.repeat(size / piece.length), out);
    assert.ok(performance.now() - began < 10_000, `${performance.now() - began} ms`);
  });

  test('an answer in pieces is shown as it comes, and each block again as Markdown', () => {
    const { out, shown } = screen();
    const answer = new LiveAnswer(out);
    for (const piece of ['He', 'llo **wo', 'rld**\n', '\nSecond', ' block\n\n```\nco', 'de\n```\nend'])
      answer.push(piece);
    answer.end();
    assert.equal(
      shown(),
      'Hello **world**\n\n\r\x1b[2A\x1b[JHello world\nSecond block\n\n\r\x1b[2A\x1b[J\nSecond block\n```\ncode\n```\n\r\x1b[3A\x1b[J\n  code\nend\r\x1b[J\nend\n',
    );
  });
});
