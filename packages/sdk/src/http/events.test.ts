import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventReader } from './events.ts';

const text =
  ': comment\n\nid: 1\nevent: a\ndata: one\ndata:two\n\ndata: ä\r\n\r\nid: 3\rdata: {"x":"\u2028"}\r\r\ndata: cut off';
const events = [
  { event: 'a', data: 'one\ntwo', id: '1' },
  { event: 'message', data: 'ä', id: '1' },
  { event: 'message', data: '{"x":"\u2028"}', id: '3' },
];

test('events are the same however their text is cut, and one that is cut off is none', () => {
  for (let size = 1; size <= text.length; size += 1) {
    const reader = new EventReader();
    const read = [];
    for (let at = 0; at < text.length; at += size) read.push(...reader.read(text.slice(at, at + size)));
    assert.deepEqual(read, events, `pieces of ${size}`);
  }
});

test('a line without an end is refused at its bound, in linear time', () => {
  const reader = new EventReader();
  const piece = 'x'.repeat(64 * 1024);
  const startedAt = performance.now();
  assert.throws(() => {
    for (;;) reader.read(piece);
  }, /too large/);
  assert.ok(performance.now() - startedAt < 5_000);
});
