import assert from 'node:assert/strict';
import { duplexPair } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Channel } from './channel.ts';

test('messages are read however they are cut, and no byte is held with what it came in', async () => {
  const [there, here] = duplexPair();
  const channel = new Channel(there, { peer: 'relay' });
  const read: unknown[] = [];
  channel.receive('said', ({ text }) => read.push(text));
  channel.open();
  const said = ['', 'é'.repeat(40), 'x'];
  const bodies = said.map((text) => Buffer.from(JSON.stringify({ kind: 'said', text })));
  const bytes = Buffer.concat(bodies.flatMap((body) => [lengthOf(body.length), body]));
  for (let at = 0; at <= bytes.length; at += 1)
    for (const part of [bytes.subarray(0, at), bytes.subarray(at)]) here.write(part);
  for (const byte of bytes) here.write(Buffer.from([byte]));
  const times = bytes.length + 2;
  await eventually(() => read.length === times * said.length);
  assert.deepEqual(
    read,
    Array.from({ length: times }).flatMap(() => said),
  );

  here.write(lengthOf(2 ** 20));
  const chunks: WeakRef<Buffer>[] = [];
  for (let n = 0; n < 10_000; n += 1) {
    const chunk = Buffer.from(new ArrayBuffer(1));
    chunks.push(new WeakRef(chunk));
    here.write(chunk);
  }
  await eventually(() => here.writableLength === 0);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await eventually(() => (collect(), chunks.filter((chunk) => chunk.deref() !== undefined).length < 100));
  channel.close();
});

function lengthOf(bytes: number): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes);
  return length;
}

async function eventually(holds: () => boolean): Promise<void> {
  for (const until = Date.now() + 10_000; !holds(); await sleep(1)) assert.ok(Date.now() < until, 'not within 10 s');
}
