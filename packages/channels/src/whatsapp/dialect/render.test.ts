import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { maxTextChars, render } from './render.ts';

const one = (markdown: string): string => {
  const pieces = render(markdown);
  assert.equal(pieces.length, 1);
  return pieces[0]!.text;
};

describe('Markdown in the marks of WhatsApp', () => {
  for (const [markdown, expected] of [
    ['**bold** and __bold__', '*bold* and *bold*'],
    ['*italic* and _italic_', '_italic_ and _italic_'],
    ['***both***', '*_both_*'],
    ['~~gone~~', '~gone~'],
    ['`**code**` stays', '`**code**` stays'],
    ['``a ` b``', '``a ` b``'],
    ['a * b * c', 'a * b * c'],
    ['snake_case_name', 'snake_case_name'],
    ['2 \\* 3', '2 * 3'],
    ['**open', '**open'],
    ['*a **b* c**', '_a **b_ c**'],
    ['# Title', '*Title*'],
    ['## A **bold** title ##', '*A bold title*'],
    ['#hashtag', '#hashtag'],
    ['* one\n* two', '- one\n- two'],
    ['- **a**: b', '- *a*: b'],
    ['1. first', '1. first'],
    ['> quoted **b**', '> quoted *b*'],
    ['---', '———'],
    ['[text](https://a.example/x_y_z)', 'text (https://a.example/x_y_z)'],
    ['[https://a.example](https://a.example)', 'https://a.example'],
    ['![a plot](https://a.example/p.png "title")', 'a plot (https://a.example/p.png)'],
    ['[not a link] (x)', '[not a link] (x)'],
    ['```ts\nconst a = **b**;\n```', '```\nconst a = **b**;\n```'],
    ['~~~\nx ``` y\n~~~', "```\nx ''' y\n```"],
    ['```\nopen', '```\nopen\n```'],
    ['| A | B |\n| --- | :-: |\n| 1 | **2** |\n| 3 |  |\n\nafter', '- A: 1; B: *2*\n- A: 3\n\nafter'],
    ['a | b\n--- | ---\nc \\| d | e', '- a: c | d; b: e'],
  ] as const) {
    test(JSON.stringify(markdown), () => assert.equal(one(markdown), expected));
  }

  test('long answers are cut, and fences closed and opened again', () => {
    const pieces = render(`Look:\n\n\`\`\`js\n${'const a = 1; // 😀\n'.repeat(1_000)}\`\`\`\n\nDone.`);
    assert.ok(pieces.length > 4);
    for (const { text } of pieces) {
      assert.ok(text.length <= maxTextChars);
      assert.equal(text.split('```').length % 2, 1, 'fences come in pairs');
      assert.ok(!/[\ud800-\udbff]$|^[\udc00-\udfff]/.test(text), 'no half character');
    }
  });
});
