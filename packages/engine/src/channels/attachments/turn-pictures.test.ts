import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Shares } from '@lodge/domain';
import { pictureBounds } from './picture.ts';
import { heldPictures, TurnPictures } from './turn-pictures.ts';

const holder = { accountId: 'account', agentId: 'agent' };
const heldOf = (inAll: number): Shares => new Shares({ perAgent: inAll, perAccount: inAll, inAll, few: inAll });
const jpeg = (bytes: number): Buffer => Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), Buffer.alloc(bytes - 4, 'x')]);

/** Passes the file in pieces, as files arrive. */
function passing(pictures: TurnPictures, bytes: Buffer, pieceBytes = 64 * 1024) {
  const file = pictures.file();
  for (let at = 0; at < bytes.length; at += pieceBytes) file.look(bytes.subarray(at, at + pieceBytes));
  return file.end();
}

test('a picture is kept as it is, however it comes in pieces', () => {
  for (const pieceBytes of [1, 3, 15, 16, 17, 5_000]) {
    const pictures = new TurnPictures(heldPictures(), holder);
    const bytes = jpeg(1_000);
    assert.deepEqual(passing(pictures, bytes, pieceBytes), { isPicture: true, seconds: null });
    assert.deepEqual(pictures.pictures, [{ type: 'image/jpeg', base64: bytes.toString('base64') }]);
  }
});

test('what is no picture by its bytes is let go of after a few of them', () => {
  const held = heldOf(1_000_000);
  const file = new TurnPictures(held, holder).file();
  file.look(Buffer.from('<html>'));
  file.look(Buffer.from('<body>not a picture'));
  assert.ok(held.take(holder, 1_000_000), 'nothing is held');
  assert.deepEqual(file.end(), { isPicture: false, seconds: null });
});

test('no more than the bounds of one turn are kept: each, in number, in all', () => {
  const { bytes, allBytes, count } = pictureBounds;
  const one = new TurnPictures(heldPictures(), holder);
  assert.equal(passing(one, jpeg(bytes + 1)).isPicture, false);
  assert.equal(passing(one, jpeg(bytes)).isPicture, true);
  assert.equal(passing(one, jpeg(allBytes - bytes + 1)).isPicture, false);
  assert.equal(passing(one, jpeg(allBytes - bytes)).isPicture, true);
  const many = new TurnPictures(heldPictures(), holder);
  const kept = Array.from({ length: count + 2 }, () => passing(many, jpeg(100)).isPicture);
  assert.deepEqual(kept, [...Array.from({ length: count }, () => true), false, false]);
  assert.equal(many.pictures.length, count);
});

test('turns share what the process holds, and give it back', () => {
  const held = heldOf(2_000);
  const [first, second] = [new TurnPictures(held, holder), new TurnPictures(held, holder)];
  assert.equal(passing(first, jpeg(1_500)).isPicture, true);
  assert.equal(passing(second, jpeg(1_000)).isPicture, false);
  const cut = second.file();
  cut.look(jpeg(400));
  cut.drop();
  cut.drop();
  first.release();
  first.release();
  assert.deepEqual(first.pictures, []);
  assert.equal(passing(second, jpeg(2_000)).isPicture, true);
  second.release();
  assert.ok(held.take(holder, 2_000));
  assert.equal(held.take(holder, 1), false);
});

test('turns of one agent leave room to its neighbours, and those of one account to others', () => {
  const held = heldPictures();
  const whole = (agentId: string, accountId = 'account'): boolean =>
    passing(new TurnPictures(held, { accountId, agentId }), jpeg(pictureBounds.bytes)).isPicture;
  const shown = (agentId: string): number => Array.from({ length: 12 }, () => whole(agentId)).filter(Boolean).length;
  assert.deepEqual(['one', 'two', 'three'].map(shown), [3, 3, 2]);
  assert.ok(whole('four', 'other'));
});
