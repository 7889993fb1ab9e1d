import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Output } from './output.ts';

const waiting = new AbortController().signal;

async function taken(write: (stream: PassThrough) => void): Promise<string> {
  const stream = new PassThrough();
  const chunks: Buffer[] = [];
  const output = new Output(stream, 100, (chunk) => {
    chunks.push(chunk);
    return undefined;
  });
  await sleep(300); // Longer than what counts as quiet.
  const settled = output.settled(waiting);
  setImmediate(() => write(stream));
  await settled;
  stream.destroy();
  return Buffer.concat(chunks).toString();
}

test('what a command wrote last is passed on, also when its end is told first, after a long silence', async () => {
  assert.equal(await taken((stream) => stream.end('said')), 'said');
});

test('a pipe that a process holds open is given up when nothing comes', async () => {
  assert.equal(await taken((stream) => stream.write('said')), 'said');
});
