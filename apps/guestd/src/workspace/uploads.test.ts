import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { maxFileBytes } from '@lodge/guest';
import { Daemon, refusedWith } from '../testing.ts';

const daemon = new Daemon();
const { signal } = new AbortController();
const options = { signal };
let base: string;
let folder: string;
before(async () => {
  await daemon.prepare();
  await daemon.start();
  base = join(daemon.root, 'workspace');
  folder = join(daemon.root, 'var/lib/lodge/uploads');
});
after(() => daemon.remove());

const uploads = () => daemon.client.uploads;
const idOf = (name: string): string => name.padEnd(16, '0');
const append = (id: string, offset: number, text: string) => uploads().append(id, offset, Buffer.from(text), options);

test('parts become a file in one step, the agent’s, and the upload is no more', async () => {
  const id = idOf('whole');
  assert.deepEqual(await uploads().state(id), { size: 0 });
  assert.deepEqual(await append(id, 0, 'one '), { size: 4 });
  assert.deepEqual(await append(id, 4, 'two'), { size: 7 });
  assert.deepEqual(await append(id, 7, ''), { size: 7 });
  assert.deepEqual(await uploads().state(id), { size: 7 });
  assert.deepEqual(readdirSync(base), [], 'nothing of it is in the workspace before');
  await assert.rejects(uploads().finish(id, { path: 'a/b', size: 8 }), refusedWith(409));
  const { created, entry } = await uploads().finish(id, { path: 'a/b', size: 7 });
  assert.deepEqual([created, entry.type, entry.size, entry.mode], [true, 'file', 7, 0o644]);
  assert.equal(readFileSync(join(base, 'a/b'), 'utf8'), 'one two');
  assert.equal(statSync(join(base, 'a/b')).uid, statSync(base).uid);
  assert.deepEqual(readdirSync(folder), []);
  await assert.rejects(uploads().finish(id, { path: 'a/b', size: 7 }), refusedWith(409));
  assert.deepEqual((await uploads().finish(idOf('empty'), { path: 'a/empty', size: 0 })).entry.size, 0);
  await append(id, 0, 'x');
  await uploads().remove(id);
  await uploads().remove(id);
  assert.deepEqual(await uploads().state(id), { size: 0 });
});

test('a part goes only where the upload ends', async () => {
  const id = idOf('offsets');
  await assert.rejects(append(id, 3, 'x'), refusedWith(409));
  await append(id, 0, 'abc');
  for (const offset of [0, 2, 4]) await assert.rejects(append(id, offset, 'x'), refusedWith(409));
  assert.equal((await append(id, 3, 'd')).size, 4);
  for (const wrong of ['', 'short', '../../etc/passwd0', 'x'.repeat(65), 'with a space 0000']) {
    await assert.rejects(append(wrong, 0, 'x'), refusedWith(400), wrong);
    await assert.rejects(uploads().state(wrong), refusedWith(400), wrong);
  }
  await uploads().remove(id);
});

test('what came before a cut stays, also when the daemon is killed, and the rest goes on there', async () => {
  const id = idOf('cut');
  await append(id, 0, 'abc');
  const cut = Readable.from(
    (async function* () {
      yield Buffer.from('def');
      await new Promise((resolve) => setTimeout(resolve, 100));
      throw new Error('the client went away');
    })(),
  );
  await assert.rejects(uploads().append(id, 3, cut, options), refusedWith(null));
  assert.deepEqual(await uploads().state(id), { size: 6 });
  await daemon.kill();
  await daemon.start();
  assert.deepEqual(await uploads().state(id), { size: 6 });
  await append(id, 6, 'ghi');
  await uploads().finish(id, { path: 'cut', size: 9 });
  assert.equal(readFileSync(join(base, 'cut'), 'utf8'), 'abcdefghi');
});

test('a later part ends the earlier one, whose connection nobody knows to be dead', async () => {
  const id = idOf('late');
  let more: () => void = () => undefined;
  const hung = Readable.from(
    (async function* () {
      yield Buffer.from('abc');
      await new Promise<void>((resolve) => (more = resolve));
    })(),
  );
  const first = uploads().append(id, 0, hung, options);
  const ended = assert.rejects(first);
  while ((await uploads().state(id)).size < 3) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal((await append(id, 3, 'def')).size, 6);
  more();
  await ended;
  await uploads().finish(id, { path: 'late', size: 6 });
  assert.equal(readFileSync(join(base, 'late'), 'utf8'), 'abcdef');
});

test('conditions hold at the end, and what they refuse can be finished elsewhere', async () => {
  const id = idOf('guarded');
  writeFileSync(join(base, 'there'), 'there');
  await append(id, 0, 'new');
  await assert.rejects(uploads().finish(id, { path: 'there', size: 3, absent: true }), refusedWith(412));
  await assert.rejects(uploads().finish(id, { path: 'missing', size: 3, match: '*' }), refusedWith(412));
  for (const path of ['', 'a', '..', 'there/x']) {
    await assert.rejects(uploads().finish(id, { path, size: 3 }), path === '..' ? refusedWith(400) : refusedWith(409));
  }
  symlinkSync(join(daemon.root, 'etc'), join(base, 'out'));
  await assert.rejects(uploads().finish(id, { path: 'out/x', size: 3 }), refusedWith(409));
  assert.equal(readFileSync(join(base, 'there'), 'utf8'), 'there');
  assert.equal((await uploads().finish(id, { path: 'there', size: 3, match: '*' })).created, false);
  assert.equal(readFileSync(join(base, 'there'), 'utf8'), 'new');
});

test('a part is bounded, 32 may be unfinished, and those of yesterday are gone', async () => {
  const big = idOf('big');
  await assert.rejects(uploads().append(big, 0, Buffer.alloc(maxFileBytes + 1), options), refusedWith(413));
  assert.equal((await uploads().state(big)).size <= maxFileBytes, true);
  await uploads().remove(big);
  for (let n = 0; n < 32; n += 1) writeFileSync(join(folder, idOf(`n${n}-`)), 'x');
  await assert.rejects(append(idOf('one-more'), 0, 'x'), refusedWith(503));
  assert.equal((await append(idOf('n1-'), 1, 'y')).size, 2, 'those that are there go on');
  const yesterday = new Date(Date.now() - 25 * 3_600_000);
  utimesSync(join(folder, idOf('n2-')), yesterday, yesterday);
  mkdirSync(join(folder, 'by-root'));
  utimesSync(join(folder, 'by-root'), yesterday, yesterday);
  assert.equal((await append(idOf('one-more'), 0, 'x')).size, 1);
  assert.ok(!existsSync(join(folder, idOf('n2-'))) && !existsSync(join(folder, 'by-root')));
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  await daemon.client.exec({ argv: ['true'], timeoutMs: 5_000 });
});

test('a full disk is said, and the agent has it back at once', { skip: process.getuid?.() !== 0 }, async () => {
  const { execFileSync } = await import('node:child_process');
  await daemon.kill();
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]);
  try {
    await daemon.start();
    const id = idOf('full');
    await append(id, 0, 'x'.repeat(500_000));
    await assert.rejects(append(id, 500_000, 'x'.repeat(2_000_000)), refusedWith(507));
    assert.deepEqual(readdirSync(folder), []);
    assert.deepEqual(await uploads().state(id), { size: 0 });
  } finally {
    await daemon.kill();
    execFileSync('umount', [folder]);
  }
});
