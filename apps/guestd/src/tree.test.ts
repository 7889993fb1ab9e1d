import assert from 'node:assert/strict';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { Daemon, refusedWith } from './testing.ts';

const from = new Daemon();
const to = new Daemon();
const options = { signal: new AbortController().signal };
const paths = ['/workspace', '/home/agent'];
before(async () => {
  for (const daemon of [from, to]) {
    await daemon.prepare();
    await daemon.start();
    mkdirSync(join(daemon.root, 'home/agent'), { recursive: true });
  }
});
after(async () => {
  await from.remove();
  await to.remove();
});

test('folders move with owners, modes, times and links, and replace what was there', async () => {
  const source = join(from.root, 'workspace');
  const script = `mkdir -p deep/er; echo one > deep/er/file; chmod 640 deep/er/file; chmod 700 deep; touch -d 2020-02-02 old
    ln deep/er/file hard; ln -s deep/er soft; ln -s /etc/passwd out; echo ä > 'odd name ✓'; truncate -s 20M sparse; mkfifo pipe`;
  assert.equal((await from.client.exec({ argv: ['bash', '-c', script], timeoutMs: 10_000 })).exitCode, 0);
  writeFileSync(join(from.root, 'home/agent/.bashrc'), 'export A=1');
  writeFileSync(join(to.root, 'workspace/stale'), 'of the template');
  for (let time = 0; time < 2; time += 1) {
    await to.client.writeTree(paths, await from.client.readTree(paths, options), options);
  }
  const target = join(to.root, 'workspace');
  assert.deepEqual(readdirSync(target).sort(), readdirSync(source).sort());
  for (const name of ['deep', 'deep/er/file', 'old', 'odd name ✓', 'sparse', 'pipe', '']) {
    const [one, other] = [lstatSync(join(source, name)), lstatSync(join(target, name))];
    assert.deepEqual([one.uid, one.gid, one.mode, one.size], [other.uid, other.gid, other.mode, other.size], name);
    if (name !== '' && name !== 'deep')
      assert.equal(Math.floor(one.mtimeMs / 1000), Math.floor(other.mtimeMs / 1000), name);
  }
  assert.equal(statSync(join(target, 'hard')).ino, statSync(join(target, 'deep/er/file')).ino);
  assert.deepEqual([readlinkSync(join(target, 'soft')), readlinkSync(join(target, 'out'))], ['deep/er', '/etc/passwd']);
  assert.equal(readFileSync(join(to.root, 'home/agent/.bashrc'), 'utf8'), 'export A=1');
  assert.equal(readFileSync(join(target, 'soft/file'), 'utf8'), 'one\n');
  assert.deepEqual(readdirSync(join(to.root, 'var/lib/lodge')).includes('tree'), false);
});

test('a tar that is cut off, is none, or lacks a folder changes nothing', async () => {
  const kept = join(to.root, 'workspace/kept');
  writeFileSync(kept, 'kept');
  writeFileSync(join(from.root, 'workspace/noise'), Buffer.alloc(300_000, 'x'));
  const tar = await buffer(await from.client.readTree(paths, options));
  for (const bytes of [tar.subarray(0, 200_000), Buffer.from('no tar at all'), Buffer.alloc(0)]) {
    await assert.rejects(to.client.writeTree(paths, Readable.from([bytes]), options), refusedWith(400));
  }
  const one = await buffer(await from.client.readTree(['/workspace'], options));
  await assert.rejects(to.client.writeTree(paths, Readable.from([one]), options), refusedWith(400));
  assert.equal(readFileSync(kept, 'utf8'), 'kept');
});

test('only folders that are named are packed, and only those are unpacked', async () => {
  await assert.rejects(from.client.readTree(['/nowhere'], options), refusedWith(404));
  for (const wrong of [
    [],
    ['workspace'],
    ['/'],
    ['/a/../b'],
    ['/home', '/home/agent'],
    ['/home', '/home'],
    ['/a//b'],
  ]) {
    await assert.rejects(from.client.readTree(wrong, options), refusedWith(400), wrong.join());
  }
  symlinkSync('/etc', join(from.root, 'linked'));
  await assert.rejects(from.client.readTree(['/linked'], options), refusedWith(404));
  mkdirSync(join(from.root, 'evil'));
  writeFileSync(join(from.root, 'evil/file'), 'x');
  linkSync(join(from.root, 'evil/file'), join(from.root, 'workspace/evil'));
  const both = await from.client.readTree(['/workspace', '/evil'], options);
  await to.client.writeTree(['/workspace'], both, options);
  assert.equal(readdirSync(to.root).includes('evil'), false);
});
