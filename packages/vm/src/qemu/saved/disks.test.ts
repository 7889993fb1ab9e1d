import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { diskBytes, overlayImage, writeOverlay } from './disks.ts';

const run = promisify(execFile);
const gib = 2 ** 30;
let folder: string;
let backing: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lodge-disks-'));
  backing = join(folder, 'backing.qcow2');
  await run('qemu-img', ['create', '-q', '-f', 'qcow2', backing, '1G']);
  await run('qemu-io', ['-c', 'write -P 7 512k 64k', backing]);
});
after(() => rm(folder, { recursive: true, force: true }));

for (const bytes of [gib, 10 * gib, 10 * gib + 512, 6000 * gib]) {
  test(`an overlay of ${bytes} bytes is one that QEMU's own tools find nothing wrong with`, async () => {
    const path = join(folder, `overlay-${bytes}.qcow2`);
    await writeOverlay({ path, backing, bytes });
    await run('qemu-img', ['check', '-q', path]);
    const info = JSON.parse((await run('qemu-img', ['info', '--output=json', path])).stdout) as Record<string, unknown>;
    assert.equal(info['format'], 'qcow2');
    assert.equal(info['virtual-size'], bytes);
    assert.equal(info['backing-filename'], backing);
    assert.equal(info['backing-filename-format'], 'qcow2');
    assert.equal(await diskBytes(path), bytes);
  });
}

test('what is written goes to the overlay, what is not comes from beneath', async () => {
  const path = join(folder, 'written.qcow2');
  await writeOverlay({ path, backing, bytes: 2 * gib });
  const { stdout } = await run('qemu-io', [
    '-c',
    'read -P 7 512k 64k',
    '-c',
    'write -P 9 512k 4k',
    '-c',
    'write -P 9 1900M 64k',
    path,
  ]);
  assert.doesNotMatch(stdout, /failed/);
  const after = await run('qemu-io', [
    '-r',
    '-c',
    'read -P 9 512k 4k',
    '-c',
    'read -P 7 516k 60k',
    '-c',
    'read -P 9 1900M 64k',
    path,
  ]);
  assert.doesNotMatch(after.stdout, /failed/);
  const beneath = await run('qemu-io', ['-r', '-c', 'read -P 7 512k 64k', backing]);
  assert.doesNotMatch(beneath.stdout, /failed/);
  await run('qemu-img', ['check', '-q', path]);
});

test('a backing file’s name that the format has no room for is refused', () => {
  assert.throws(() => overlayImage({ backing: `/${'x'.repeat(1023)}`, bytes: gib }), { name: 'VmError' });
});

test('a file that is no qcow2 file is refused', async () => {
  await assert.rejects(diskBytes('/etc/passwd'), { name: 'VmError' });
});
