/** Copies between two real daemons of guests, and listings of one. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { Daemon } from '../../../../guestd/src/testing.ts';
import { copyPaths } from './copy-paths.ts';
import { stillListing } from './listings.ts';

const [then, now] = [new Daemon(), new Daemon()];
const never = new AbortController().signal;
before(async () => {
  for (const daemon of [then, now]) {
    await daemon.prepare();
    await daemon.start();
  }
});
after(async () => {
  for (const daemon of [then, now]) await daemon.remove();
});

const at = (daemon: Daemon, path: string): string => join(daemon.root, 'workspace', path);

function put(daemon: Daemon, path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(at(daemon, path)), { recursive: true });
  writeFileSync(at(daemon, path), text, { mode });
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', '1000:1000', at(daemon, '.')]);
}

const read = (path: string): string => readFileSync(at(now, path), 'utf8');
const copy = (...paths: string[]) => copyPaths({ from: then.client, to: now.client }, paths, never);

test('files and folders are copied with their permissions and links; what else is there stays', async () => {
  put(then, 'notes/today.md', 'then');
  put(then, 'notes/deep/er/a file\n', 'odd');
  put(then, 'bin/run', '#!/bin/sh', 0o755);
  symlinkSync('today.md', at(then, 'notes/link'));
  put(now, 'notes/today.md', 'now', 0o600);
  put(now, 'notes/later.md', 'later');
  put(now, 'other', 'other');
  await copy('notes', 'bin/run');
  assert.deepEqual(['notes/today.md', 'notes/deep/er/a file\n', 'notes/later.md', 'other', 'bin/run'].map(read), [
    'then',
    'odd',
    'later',
    'other',
    '#!/bin/sh',
  ]);
  assert.equal(readlinkSync(at(now, 'notes/link')), 'today.md');
  const modeOf = (path: string) => statSync(at(now, path)).mode & 0o777;
  assert.deepEqual([modeOf('bin/run'), modeOf('notes/today.md')], [0o755, 0o644]);
});

test('nothing is written when one is missing, or is no file and no folder', async () => {
  put(then, 'whole', 'then');
  put(now, 'whole', 'now');
  await assert.rejects(copy('whole', 'none'), { code: 'file_not_found', message: /"none"; nothing was written/ });
  execFileSync('mkfifo', [at(then, 'pipe')]);
  await assert.rejects(copy('whole', 'pipe'), { code: 'file_conflict' });
  assert.equal(read('whole'), 'now');
});

test('a folder in the way of a file is refused, and stays', async () => {
  put(then, 'clash', 'a file');
  put(now, 'clash/inside', 'a folder');
  await assert.rejects(copy('clash'), { code: 'file_conflict' });
  assert.equal(read('clash/inside'), 'a folder');
});

test('a link in a workspace leads nowhere out of it, on neither side', async () => {
  symlinkSync('/etc', at(then, 'outside'));
  await assert.rejects(copy('outside/passwd'));
  put(then, 'trap/passwd', 'mine');
  symlinkSync('/tmp', at(now, 'trap'));
  await assert.rejects(copy('trap'));
  chownSync(at(now, 'other'), 0, 0);
});

test('the listing of a still guest has every folder, by pages', async () => {
  for (let index = 0; index < 1_005; index += 1) writeFileSync(at(then, `notes/deep/${index}`), '');
  const { files, isCut } = await stillListing(then.client, never);
  assert.equal(isCut, false);
  assert.deepEqual(files.get('notes/today.md')?.size, 4);
  assert.equal(files.get('notes/link')?.type, 'symlink');
  assert.equal([...files.keys()].filter((path) => path.startsWith('notes/deep/')).length, 1_007);
});
