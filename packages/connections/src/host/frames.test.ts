import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Frames } from './frames.ts';

/** A frame of a server, or with a mask one of a client. */
function frame(payload: Buffer, mask: Buffer | null = null, first = 0x82): Buffer {
  const { length } = payload;
  const bit = mask === null ? 0 : 0x80;
  const long = Buffer.alloc(8);
  long.writeBigUInt64BE(BigInt(length));
  const size =
    length < 126
      ? Buffer.from([bit | length])
      : length < 65_536
        ? Buffer.concat([Buffer.from([bit | 126]), long.subarray(6)])
        : Buffer.concat([Buffer.from([bit | 127]), long]);
  const masked = mask === null ? payload : payload.map((byte, n) => byte ^ mask[n % 4]!);
  return Buffer.concat([Buffer.from([first]), size, mask ?? Buffer.alloc(0), masked]);
}

const mask = Buffer.from([1, 2, 3, 250]);

test('payload and ends of frames are found wherever the bytes are cut', () => {
  const payloads = [0, 1, 125, 126, 127, 65_535, 65_536, 70_000].map((length) => Buffer.alloc(length, 'payload '));
  for (const each of [null, mask]) {
    const all = Buffer.concat(payloads.map((payload) => frame(payload, each)));
    for (const step of [1, 7, 1_000, all.length]) {
      const frames = new Frames(each !== null);
      const found: Buffer[] = [];
      let whole = 0;
      for (let at = 0; at < all.length; at += step) {
        const taken = frames.push(all.subarray(at, at + step))!;
        found.push(Buffer.from(taken.payload));
        if (taken.whole > 0) whole = at + taken.whole;
      }
      assert.ok(Buffer.concat(found).equals(Buffer.concat(payloads)), `${step}`);
      assert.equal(whole, all.length);
    }
    const half = new Frames(each !== null).push(
      Buffer.concat([frame(Buffer.from('a'), each), frame(Buffer.from('bc'), each).subarray(0, -1)]),
    )!;
    assert.deepEqual([half.payload.toString(), half.whole], ['ab', frame(Buffer.from('a'), each).length]);
  }
});

test('frames that are packed, unknown, masked by the wrong side or endless are refused', () => {
  const some = Buffer.from('some');
  for (const [bytes, isMasked] of [
    [frame(some, null, 0xc2), false],
    [frame(some, null, 0x83), false],
    [frame(some, null, 0x8b), false],
    [frame(some, mask), false],
    [frame(some), true],
    [Buffer.from([0x82, 127, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0]), false],
    [Buffer.from('HTTP/1.1 200 OK'), false],
  ] as const)
    assert.equal(new Frames(isMasked).push(bytes), null, bytes.toString('hex'));
});
