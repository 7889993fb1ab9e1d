import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventCutter } from './events.ts';

const stream = [
  ': comment\n\n',
  'data: {"a":1}\n\n',
  'event: x\r\ndata: zwei ü☃\r\n\r\n',
  'data: one\ndata: two\n\n',
  'id: 7\nretry: 5\ndata:no-space\n\n',
  '\n',
  'data: [DONE]\n\n',
];
const data = [[], ['{"a":1}'], ['zwei ü☃'], ['one\ntwo'], ['no-space'], [], ['[DONE]']];

test('wherever the network cuts a stream, the same events come out, and no byte is lost', () => {
  const bytes = Buffer.from(stream.join(''));
  for (let size = 1; size <= bytes.length; size++) {
    const cutter = new EventCutter();
    const blocks = [];
    for (let at = 0; at < bytes.length; at += size) blocks.push(...cutter.push(bytes.subarray(at, at + size)));
    assert.deepEqual(
      blocks.map((block) => block.bytes.toString()),
      stream,
      `pieces of ${size}`,
    );
    assert.deepEqual(
      blocks.map((block) => block.data),
      data,
    );
    assert.equal(cutter.rest(), null);
  }
});

test('an event is out as soon as its last byte is in', () => {
  const cutter = new EventCutter();
  assert.equal(cutter.push(Buffer.from('data: x\n')).length, 0);
  assert.equal(cutter.push(Buffer.from('\n')).length, 1);
});

test('what a stream ends in the middle of is still passed and read', () => {
  const cutter = new EventCutter();
  assert.equal(cutter.push(Buffer.from('data: a\n\ndata: b')).length, 1);
  const rest = cutter.rest();
  assert.deepEqual([rest!.bytes.toString(), rest!.data], ['data: b', ['b']]);
});

test('an event without end is an error, not a heap', () => {
  const cutter = new EventCutter();
  const piece = Buffer.alloc(1024 * 1024, 'x');
  assert.throws(() => {
    for (let i = 0; i < 17; i++) cutter.push(piece);
  }, /more than 16777216 bytes/);
});

test('an event of many lines is an error, and one that comes byte by byte costs as much as its bytes', () => {
  assert.throws(() => new EventCutter().push(Buffer.from('data:\n'.repeat(10_001))), /more than 10000 lines/);
  const cutter = new EventCutter();
  const piece = Buffer.from('x');
  const before = process.memoryUsage().arrayBuffers;
  for (let n = 0; n < 2 * 1024 * 1024; n++) cutter.push(piece);
  const held = (process.memoryUsage().arrayBuffers - before) / (1024 * 1024);
  assert.ok(held < 16, `${held} MiB`);
  assert.equal(cutter.rest()!.bytes.length, 2 * 1024 * 1024);
});
