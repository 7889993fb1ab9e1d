import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { backingOf, moveDisk, repoint } from './backing.ts';
import { writeOverlay } from './disks.ts';

const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), 'lodge-backing-'));
after(() => rm(folder, { recursive: true }));

const at = (name: string): string => join(folder, name);
const pattern = (path: string, value: string): Promise<unknown> =>
  run('qemu-io', ['-f', 'qcow2', '-c', `write -P ${value} 0 1M`, path]);
const holds = async (path: string, value: string): Promise<boolean> =>
  !(await run('qemu-io', ['-f', 'qcow2', '-c', `read -P ${value} 0 1M`, path])).stdout.includes('failed');

async function chain(): Promise<string> {
  for (const [name, value] of [
    ['a.qcow2', '1'],
    ['b.qcow2', '2'],
  ] as const) {
    await run('qemu-img', ['create', '-q', '-f', 'qcow2', at(name), '64M']);
    await pattern(at(name), value);
  }
  await writeOverlay({ path: at('disk.qcow2'), backing: at('a.qcow2'), bytes: 64 << 20 });
  return at('disk.qcow2');
}

for (const by of ['us', 'QEMU'] as const) {
  test(`a disk whose header ${by} wrote is put over another, longer or shorter name, and its data stays`, async () => {
    const disk = await chain();
    if (by === 'QEMU') {
      await rm(disk);
      await run('qemu-img', ['create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-b', at('a.qcow2'), disk]);
    }
    await run('qemu-io', ['-f', 'qcow2', '-c', 'write -P 7 8M 1M', disk]);
    assert.ok(await holds(disk, '1'));
    const longer = at(`${'x'.repeat(200)}.qcow2`);
    await run('cp', [at('b.qcow2'), longer]);
    for (const backing of [longer, at('b.qcow2'), 'b.qcow2']) {
      await repoint(disk, backing);
      assert.equal(await backingOf(disk), backing);
      assert.ok(await holds(disk, '2'), backing);
      await run('qemu-img', ['check', '-q', disk]);
    }
    assert.match((await run('qemu-io', ['-f', 'qcow2', '-c', 'read -P 7 8M 1M', disk])).stdout, /^read 1048576/);
  });
}

test('a header without room, or a file that is no disk over another, is refused and left as it is', async () => {
  const disk = await chain();
  const before = await readFile(disk);
  await assert.rejects(repoint(disk, `/${'y'.repeat(1023)}`), /no room/);
  assert.ok(before.equals(await readFile(disk)));
  await assert.rejects(repoint(at('a.qcow2'), '/b'), /lies over nothing/);
  before.writeBigUInt64BE(1n << 40n, 8);
  await writeFile(disk, before);
  await assert.rejects(backingOf(disk), /too far behind/);
  assert.equal(await backingOf(at('absent')), null);
});

test('a moved disk keeps its time to the nanosecond, also when a kill came before that was done', async () => {
  const disk = await chain();
  const times = async () => (await stat(disk, { bigint: true })).mtimeNs;
  const written = await times();
  assert.notEqual(written % 1000n, 0n, 'a time that tells');
  await moveDisk(disk, at('b.qcow2'));
  assert.deepEqual([await backingOf(disk), await times()], [at('b.qcow2'), written]);
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.startsWith('disk.moving')),
    [],
  );

  // The state that a kill between the header and the time leaves.
  await writeFile(at('disk.moving'), `${written / 10n ** 9n}.${String(written % 10n ** 9n).padStart(9, '0')}`);
  await repoint(disk, at('a.qcow2'));
  assert.notEqual(await times(), written);
  await moveDisk(disk, at('a.qcow2'));
  assert.deepEqual([await backingOf(disk), await times()], [at('a.qcow2'), written]);

  // The state that a kill before the header leaves.
  await writeFile(at('disk.moving'), `${written / 10n ** 9n}.${String(written % 10n ** 9n).padStart(9, '0')}`);
  await moveDisk(disk, at('b.qcow2'));
  assert.deepEqual([await backingOf(disk), await times()], [at('b.qcow2'), written]);

  await chmod(disk, 0o400);
  await moveDisk(disk, at('b.qcow2'));
  assert.equal(await times(), written, 'one that lies right is not touched');
});
