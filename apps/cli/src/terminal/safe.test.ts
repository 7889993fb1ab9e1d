import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hostileStrings, obeyedIn } from '../../../../tests/hands/cli/hostile-strings.ts';
import { SafeStream, safeJson, safeLine, safeText } from './safe.ts';

describe('harmless text', () => {
  test('a terminal obeys nothing of 40 hostile strings, as a line, as a text and as JSON', () => {
    assert.equal(hostileStrings.length, 40);
    for (const text of hostileStrings) {
      const line = safeLine(text);
      assert.equal(obeyedIn(line), null, JSON.stringify(text));
      assert.doesNotMatch(line, /[\n\t]/, 'a line is one line');
      assert.equal(obeyedIn(safeText(text)), null, JSON.stringify(text));
      const json = safeJson({ text });
      assert.equal(obeyedIn(json), null, JSON.stringify(text));
      assert.deepEqual(JSON.parse(json), { text }, 'JSON means the same');
    }
  });

  test('what is left can be read', () => {
    assert.equal(safeLine('\x1b[31mred\x1b[0m and \x1b]0;title\x07plain'), 'red and plain');
    assert.equal(safeLine('two\r\nlines\tand more'), 'two lines and more');
    assert.equal(safeText('two\r\nlines\n\tindented\rback'), 'two\nlines\n\tindented\nback');
    assert.equal(safeLine('Grüße, 世界, naïve, नमस्ते'), 'Grüße, 世界, naïve, नमस्ते');
  });

  test('a letter has few marks, and half a pair is replaced', () => {
    assert.equal(safeLine(`a${'\u0301'.repeat(50)}b`), `a${'\u0301'.repeat(4)}b`);
    assert.equal(safeLine('a\ud800b'), 'a\ufffdb');
  });

  test('a line has a bound, and 10 MB take little time', () => {
    assert.equal(safeLine('x'.repeat(5000), 10), 'xxxxxxxxx…');
    const began = performance.now();
    for (const piece of ['\x1b', '\x1b]', '\u0301', '\u202e', '\n', 'x\x9b']) {
      safeLine(piece.repeat(5_000_000));
      safeText(piece.repeat(500_000));
    }
    assert.ok(performance.now() - began < 10_000);
  });

  test('a sequence that comes in pieces is removed, and the text of both pieces stays', () => {
    for (const text of hostileStrings) {
      for (let at = 1; at < text.length; at += 1) {
        const stream = new SafeStream();
        const shown = stream.push(text.slice(0, at)) + stream.push(text.slice(at)) + stream.end();
        assert.equal(obeyedIn(shown), null, JSON.stringify([text.slice(0, at), text.slice(at)]));
      }
    }
    const stream = new SafeStream();
    assert.equal(
      stream.push('red: \x1b[3') + stream.push('1mred\x1b[0m \ud83d') + stream.push('\ude00') + stream.end(),
      'red: red 😀',
    );
  });
});
