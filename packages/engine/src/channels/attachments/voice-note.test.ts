import assert from 'node:assert/strict';
import { test } from 'node:test';
import { voiceSeconds } from './voice-note.ts';

function page(samples: bigint, packet: Buffer): Buffer {
  const head = Buffer.alloc(28);
  head.write('OggS', 'latin1');
  head.writeBigInt64LE(samples, 6);
  head[26] = 1;
  head[27] = packet.length;
  return Buffer.concat([head, packet]);
}

function opus(samples: bigint, skipped = 312): Buffer {
  const head = Buffer.alloc(19);
  head.write('OpusHead\x01\x01', 'latin1');
  head.writeUInt16LE(skipped, 10);
  return Buffer.concat([page(0n, head), page(960n, Buffer.alloc(200)), page(samples, Buffer.alloc(100))]);
}

test('an Opus recording plays for as long as its last page says', () => {
  assert.equal(voiceSeconds(opus(7n * 48_000n + 312n)), 7);
  assert.equal(voiceSeconds(opus(48_000n * 90n)), 90);
});

test('what is no such recording, or says what cannot be, has no length', () => {
  const good = opus(48_000n * 5n);
  for (const [what, bytes] of [
    ['nothing', Buffer.alloc(0)],
    ['a mark alone', Buffer.from('OggS')],
    ['no Opus', Buffer.concat([page(48_000n, Buffer.from('\x01vorbis and so on and on', 'latin1'))])],
    ['a cut head', good.subarray(0, 40)],
    ['a last page that is cut', Buffer.concat([good, Buffer.from('OggS\0\0')])],
    ['before its beginning', opus(-48_000n * 5n)],
    ['more than a day', opus(48_000n * 86_401n)],
    ['more than there are numbers for', opus(2n ** 63n - 1n)],
    ['no sound', opus(0n)],
  ] as const) {
    assert.equal(voiceSeconds(bytes), null, what);
  }
});

test('a file of marks alone is looked at once', () => {
  const before = process.cpuUsage();
  for (let i = 0; i < 100; i += 1) voiceSeconds(Buffer.concat([opus(48_000n), Buffer.from('Ogg'.repeat(1_000_000))]));
  assert.ok(process.cpuUsage(before).user < 5e6);
});
