/** Guards the host against hostile events of a guest: nothing is lost, nothing grows without bound, nothing gets slow. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventBlocks, readBlock } from './event-reader.ts';

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const read = (text: string, size = text.length): Promise<string[]> => Array.fromAsync(eventBlocks(pieces(text, size)));

test('blocks are the same wherever the stream is cut, within a character or a blank line too', async () => {
  const text = ': hello\r\n\r\ndata: grüße 👋\r\nid: 1\n\r\n\n\ndata: a\ndata: b\r\n\ndata: \r\r\n\r\r\n\r\ndata: cut';
  const blocks = [': hello', 'data: grüße 👋\r\nid: 1', 'data: a\ndata: b', 'data: \r\r\n\r'];
  for (const size of [1, 2, 3, 4, 5, 7, 1_000]) assert.deepEqual(await read(text, size), blocks, `${size} bytes`);
});

test('an event without end is refused, whole or in pieces', async () => {
  for (const size of [1_024, 64 * 1024]) await assert.rejects(read('x'.repeat(1_100_000), size), /without end/);
});

test('a large event in the smallest pieces costs linear time', async () => {
  const before = process.cpuUsage();
  const [block] = await read(`${'\r'.repeat(200_000)}\n\n`, 1);
  assert.equal(block?.length, 199_999);
  // It takes half a second. A reader that looks at all pending text with each piece takes 40 s.
  assert.ok(process.cpuUsage(before).user < 10e6);
});

test('an event of more lines than any has is refused', () => {
  assert.throws(() => readBlock('data:\n'.repeat(200_000)), /too many lines/);
  assert.equal(readBlock('data: a\n'.repeat(999)).data?.length, 999 * 2 - 1);
});

test('many events in one piece let others in', async () => {
  const blocks = eventBlocks(pieces('data: a\n\n'.repeat(1_000), 10_000));
  let turns = 0;
  const count = (): void => {
    turns += 1;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  for await (const block of blocks) assert.equal(block, 'data: a');
  clearImmediate(immediate);
  assert.ok(turns >= 10, `${turns} turns`);
});

test('data is told apart from other lines by the name of the field alone', () => {
  const { data, otherLines } = readBlock('data: a\ndata:b\ndata\n: c\ndatabase: d\r\nid: 1\r\ndata:  \u2028e');
  assert.equal(data, 'a\nb\n\n \u2028e');
  assert.deepEqual(otherLines, [': c', 'database: d', 'id: 1']);
  assert.deepEqual(readBlock(': only a comment'), { data: null, otherLines: [': only a comment'] });
});
