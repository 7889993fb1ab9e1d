import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { codePoints, splitMarkdown, utf16Units, utf8Bytes, weightOf } from './split.ts';
import type { Weigh } from './split.ts';

const words = (count: number): string => Array.from({ length: count }, (_, at) => `word${at}`).join(' ');

describe('Markdown is cut at the limit of a platform', () => {
  test('a text that fits is one piece, as it is', () => {
    assert.deepEqual(splitMarkdown('# One\n\ntwo', 64), ['# One\n\ntwo']);
  });

  test('a text without anything visible has no piece', () => {
    for (const text of ['', ' \n\t\n', '\u200b\u00a0', '\n'.repeat(1000)])
      assert.deepEqual(splitMarkdown(text, 64), []);
  });

  test('a cut is between paragraphs, else between lines, else between words', () => {
    const paragraphs = splitMarkdown(`${words(6)}\n\n${words(5)}\n${words(4)}`, 64);
    assert.deepEqual(
      paragraphs,
      [words(6), `${words(5)}\n${words(4)}`].flatMap((each) => (each.length > 64 ? each.split('\n') : [each])),
    );
    assert.deepEqual(splitMarkdown(`${words(8)}\n${words(8)}`, 64), [words(8), words(8)]);
    for (const piece of splitMarkdown(words(100), 64)) assert.match(piece, /^word\d+(?: word\d+)*$/);
  });

  test('no piece begins or ends with a line break', () => {
    for (let length = 1; length < 140; length += 1) {
      for (const piece of splitMarkdown(`${'a'.repeat(length)} \n\n${'b'.repeat(60)} \nc`, 64)) {
        assert.equal(piece.trim(), piece, String(length));
      }
    }
  });

  test('a small paragraph is not left alone', () => {
    const [first] = splitMarkdown(`Hi\n\n${'a long line\n'.repeat(20)}`, 100);
    assert.ok(first!.length > 50, first);
  });

  test('a fence is closed at a cut and opened again with its language', () => {
    const code = Array.from({ length: 30 }, (_, at) => `line(${at});`);
    const pieces = splitMarkdown(`Look:\n\n\`\`\`ts title="x"\n${code.join('\n')}\n\`\`\`\n\nDone.`, 100);
    assert.ok(pieces.length > 3);
    for (const [at, piece] of pieces.entries()) {
      assert.ok(piece.length <= 100);
      assert.equal(piece.split('\n').filter((line) => line.startsWith('```')).length % 2, 0, piece);
      if (at > 1 && at < pieces.length - 1) assert.match(piece, /^```ts\n/);
    }
    const shown = pieces.flatMap((piece) => piece.split('\n')).filter((line) => line.startsWith('line('));
    assert.deepEqual(shown, code);
  });

  test('a fence is not opened again for its end alone', () => {
    const pieces = splitMarkdown(`\`\`\`js\n${'a'.repeat(54)}\n${'`'.repeat(10)}\nEnd`, 64);
    assert.equal(pieces.length, 2);
    assert.equal(pieces.at(-1), 'End');
  });

  test('an inner fence of other or fewer marks does not end the outer one', () => {
    const pieces = splitMarkdown(`\`\`\`\`md\n\`\`\`js\n${'x();\n'.repeat(30)}\`\`\`\n~~~\n\`\`\`\`\nafter`, 80);
    assert.ok(pieces.slice(1, -1).every((piece) => piece.startsWith('````md\n') && piece.endsWith('\n````')));
  });

  test('rows of a table stay whole', () => {
    const row = '| some cell | another cell |';
    const rows = splitMarkdown(`${row}\n`.repeat(40), 128).flatMap((piece) => piece.split('\n'));
    assert.deepEqual(
      rows,
      Array.from({ length: 40 }, () => row),
    );
  });

  test('no character is cut in two', () => {
    for (const character of ['😀', '👍🏽', '👩‍👩‍👧', 'é', '🇩🇪']) {
      const pieces = splitMarkdown(character.repeat(200), 65);
      assert.equal(pieces.join(''), character.repeat(200));
      for (const piece of pieces) assert.equal(piece.length % character.length, 0, `${character}: ${piece.length}`);
    }
  });

  test('the limit holds by every count, and no word is lost, in texts made at random', () => {
    const parts = [
      'word ',
      '\n',
      '\n\n',
      '```',
      '```ts\n',
      '\n```\n',
      '~~~~',
      '😀',
      '👩‍👩‍👧',
      '    ',
      '| a | b |\n',
      'x'.repeat(90),
      '\r\n',
      '🇩🇪',
      'ü',
      '`',
      '\ud800',
    ];
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    for (let round = 0; round < 2_000; round += 1) {
      const text = Array.from({ length: random(60) }, () => parts[random(parts.length)]!).join('');
      const weigh: Weigh = [utf16Units, codePoints, utf8Bytes][random(3)]!;
      const limit = 64 + random(80);
      const pieces = splitMarkdown(text, limit, weigh);
      for (const piece of pieces) assert.ok(weightOf(piece, weigh) <= limit, JSON.stringify({ text, limit, piece }));
      const bare = (each: string): string => each.replaceAll(/[\s`~tsword\ud800]/g, '');
      assert.equal(bare(pieces.join('')), bare(text), JSON.stringify({ text, limit, pieces }));
    }
  });

  test('hostile texts take time in proportion to their length', () => {
    const hostile = [
      'a'.repeat(150_000),
      '\n'.repeat(150_000),
      ' '.repeat(150_000) + 'x',
      '`'.repeat(150_000),
      '```\n'.repeat(150_000),
      `\`\`\`${'x'.repeat(150_000)}`,
      '\u0301'.repeat(150_000),
      '\u200d'.repeat(150_000) + 'a',
      'a\n\n'.repeat(150_000),
      `a\n${'b'.repeat(4_000)}\n`.repeat(1_000),
    ];
    for (const text of hostile) {
      const before = process.cpuUsage();
      splitMarkdown(text, 4_096);
      const tookMs = process.cpuUsage(before).user / 1000;
      assert.ok(tookMs < 2_000, `${JSON.stringify(text.slice(0, 10))}: ${tookMs} ms`);
    }
  });
});
