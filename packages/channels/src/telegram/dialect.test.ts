import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { renderAnswer, richMarkdown } from './dialect.ts';

describe("Telegram's dialect", () => {
  test('only what has marks of Markdown goes as such', () => {
    for (const text of ['**a**', '`a`', '| a |\n| - |', '# a', '> a', '[a](b)', '~~a~~', '```\na\n```']) {
      assert.equal(renderAnswer(text)[0]!.format, 'markdown', text);
    }
    for (const text of ['Hello.', '- a\n- b', '1. a', 'a > b', 'a | b', '#tag', 'costs $5 = 5 USD <now>']) {
      assert.equal(renderAnswer(text)[0]!.format, null, text);
    }
  });

  test('a piece has no more lines than a rich message has blocks', () => {
    for (const { text } of renderAnswer('- *a*\n'.repeat(3_000))) assert.ok(text.split('\n').length <= 500);
  });

  test('what an agent does not mean has no meaning', () => {
    const cases: readonly [string, string][] = [
      ['from $395k to $483k', String.raw`from \$395k to \$483k`],
      ['$5-$10', String.raw`\$5-\$10`],
      ['if a == b || c == d', String.raw`if a \=\= b \|\| c \=\= d`],
      ['<b>x</b> a<b a < b', String.raw`\<b>x\</b> a\<b a < b`],
      ['<tg-button type="login_url">', String.raw`\<tg-button type="login_url">`],
      ['see <https://example.com>', 'see <https://example.com>'],
      ['![a](http://x/y.png) ![](http://x)', '[a](http://x/y.png) [image](http://x)'],
      ['\\$5 \\< \\', '\\$5 \\< \\'],
    ];
    for (const [given, expected] of cases) assert.equal(richMarkdown(given), expected);
  });

  test('formulas, tables, headings and code stay as they are', () => {
    const same = [
      'with $x^2 + y^2$ and $n$',
      '$$E = mc^2$$',
      '| a || b |',
      'Title\n=====',
      '`a == b || $c <d>` and ``x ` $y``',
      '```sh\necho $HOME || <x> == ![](y)\n```',
      '~~~\n<b>\n~~~',
      '**bold** _it_ [a](b)',
    ];
    for (const text of same) assert.equal(richMarkdown(text), text);
    assert.equal(richMarkdown('`open <b>'), '`open \\<b>');
  });

  test('hostile texts take time in proportion to their length', () => {
    for (const unit of ['$', '$a', '`', '`` ` ', '<a', '![', '=', '|', '\\', '$ $', '`a``b```']) {
      const text = unit.repeat(Math.ceil(100_000 / unit.length));
      const before = process.cpuUsage();
      richMarkdown(text);
      const tookMs = process.cpuUsage(before).user / 1_000;
      assert.ok(tookMs < 2_000, `${unit}: ${tookMs} ms`);
    }
  });
});
