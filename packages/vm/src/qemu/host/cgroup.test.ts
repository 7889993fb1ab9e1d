import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { once } from 'node:events';
import { assertBounded, missingControllers, openCgroups } from './cgroup.ts';
import { memoryShare, readMark } from './process.ts';
import { swapAreas } from './swap.ts';

const limits = { memoryMib: 3072, cpus: 2 };

test('on this host, a process in a group is bound by what the host offers, and the group goes when it is empty', async () => {
  const instance = `c${randomInt(36 ** 4).toString(36)}`;
  const groups = await openCgroups(instance);
  const child = spawn('sleep', ['60']);
  try {
    await groups.create('vm', limits);
    await groups.add('vm', child.pid!);
    const own = await readFile(`/proc/${child.pid}/cgroup`, 'utf8');
    const controllers = ['memory', 'cpu'].filter(
      (name) => !groups.missing.some(({ controller }) => controller === name),
    );
    if (controllers.length > 0) assert.match(own, new RegExp(`/lodge-${instance}/vm$`, 'm'));
    assert.deepEqual(await groups.names(), controllers.length > 0 ? ['vm'] : []);
    const found = await limitOf(`lodge-${instance}/vm`);
    if (controllers.includes('memory')) assert.equal(found, limits.memoryMib * 2 ** 20);
    await groups.createYielding('yields');
    await groups.add('yields', child.pid!);
    await groups.add('vm', child.pid!);
    await groups.remove('yields');
    await groups.create('vm', limits);
    await groups.close();
    assert.deepEqual(await groups.names(), controllers.length > 0 ? ['vm'] : [], 'a group in use stays');
  } finally {
    child.kill('SIGKILL');
    await groups.remove('vm');
    await groups.remove('vm');
    assert.deepEqual(await groups.names(), []);
    await groups.close();
  }
  assert.equal(await limitOf(`lodge-${instance}`), null);
});

test('a group’s memory goes to swap while its process lives, and none is lost where there is no swap', async (t) => {
  const instance = `c${randomInt(36 ** 4).toString(36)}`;
  const groups = await openCgroups(instance);
  if (groups.missing.some(({ controller }) => controller === 'memory')) return t.skip('no memory controller');
  await groups.create('vm', limits);
  const holds = "process.on('message', () => { held = Buffer.alloc(64 << 20, 'held'); process.send('held') })";
  const child = spawn(process.execPath, ['-e', holds], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  try {
    await groups.add('vm', child.pid!);
    child.send('hold');
    await once(child, 'message');
    const heldMib = async (): Promise<readonly number[]> => {
      const { resident, swapped } = await memoryShare(readMark(child.pid!)!);
      return [resident, swapped].map((bytes) => bytes / 2 ** 20);
    };
    await groups.pageOut('vm', AbortSignal.abort());
    const [before] = await heldMib();
    assert.ok(before! > 64);
    await groups.pageOut('absent', AbortSignal.timeout(60_000));
    await groups.pageOut('vm', AbortSignal.timeout(60_000));
    const [resident, swapped] = await heldMib();
    t.diagnostic(`${before} MiB before; ${resident} MiB in memory and ${swapped} MiB in swap afterwards`);
    if ((await swapAreas()).length > 0) assert.ok(swapped! > 60 && resident! < before! - 60);
    else assert.ok(swapped === 0 && resident! > 64);
  } finally {
    child.kill('SIGKILL');
    await groups.remove('vm');
    await groups.close();
  }
});

async function limitOf(group: string): Promise<number | null> {
  for (const path of [`/sys/fs/cgroup/${group}/memory.max`, `/sys/fs/cgroup/memory/${group}/memory.limit_in_bytes`]) {
    const text = await readFile(path, 'utf8').catch(() => null);
    if (text !== null) return Number(text);
  }
  return null;
}

test('with one tree (v2), controllers are handed down and the limits are that layout’s', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'lodge-cgroup-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  await writeFile(join(root, 'cgroup.controllers'), 'cpuset cpu io memory pids\n');
  const groups = await openCgroups('one', root);
  assert.deepEqual(groups.missing, []);
  await groups.create('vm', limits);
  // A plain file shows only the last write.
  assert.equal(await readFile(join(root, 'cgroup.subtree_control'), 'utf8'), '+cpu');
  assert.equal(await readFile(join(root, 'lodge-one', 'cgroup.subtree_control'), 'utf8'), '+cpu');
  assert.equal(await readFile(join(root, 'lodge-one/vm/memory.max'), 'utf8'), String(3072 * 2 ** 20));
  assert.equal(await readFile(join(root, 'lodge-one/vm/cpu.max'), 'utf8'), '200000 100000');
  await groups.add('vm', 4711);
  assert.equal(await readFile(join(root, 'lodge-one/vm/cgroup.procs'), 'utf8'), '4711');
  await groups.createYielding('yields');
  assert.equal(await readFile(join(root, 'lodge-one/yields/cpu.weight'), 'utf8'), '5');
  await assert.rejects(access(join(root, 'lodge-one/yields/memory.max')));
});

test('a controller the host lacks is named, and the others hold', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'lodge-cgroup-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  await mkdir(join(root, 'memory'));
  await writeFile(join(root, 'memory', 'cgroup.procs'), '');
  const groups = await openCgroups('two', root);
  assert.deepEqual(groups.missing, [{ controller: 'cpu', reason: 'not mounted' }]);
  assert.deepEqual(await missingControllers(root), groups.missing);
  assertBounded(groups, 'refuse');
  await groups.create('vm', limits);
  assert.equal(await readFile(join(root, 'memory/lodge-two/vm/memory.limit_in_bytes'), 'utf8'), String(3072 * 2 ** 20));
});

test('a kernel that hands down one controller and keeps the other back still binds memory', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'lodge-cgroup-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  await writeFile(join(root, 'cgroup.controllers'), 'memory io\n');
  const groups = await openCgroups('four', root);
  assert.deepEqual(groups.missing, [{ controller: 'cpu', reason: 'not in cgroup.controllers' }]);
  await groups.create('vm', limits);
  assert.equal(await readFile(join(root, 'lodge-four/vm/memory.max'), 'utf8'), String(3072 * 2 ** 20));
  await assert.rejects(access(join(root, 'lodge-four/vm/cpu.max')));
});

test('a kill for lack of memory is read from either layout, and a group that is gone had none', async (t) => {
  const layouts = [
    { controllers: true, group: 'lodge-seven/vm', file: 'memory.events', none: 'oom 4\noom_kill 0\n' },
    {
      controllers: false,
      group: 'memory/lodge-seven/vm',
      file: 'memory.oom_control',
      none: 'under_oom 1\noom_kill 0\n',
    },
  ];
  for (const { controllers, group, file, none } of layouts) {
    const root = await mkdtemp(join(tmpdir(), 'lodge-cgroup-'));
    t.after(() => rm(root, { recursive: true, force: true }));
    await mkdir(join(root, 'memory'));
    if (controllers) await writeFile(join(root, 'cgroup.controllers'), 'cpu memory\n');
    else await writeFile(join(root, 'memory', 'cgroup.procs'), '');
    const groups = await openCgroups('seven', root);
    await groups.create('vm', limits);
    await writeFile(join(root, group, file), none);
    assert.equal(await groups.outOfMemoryKill('vm'), false);
    await writeFile(join(root, group, file), none.replace('oom_kill 0', 'oom_kill 12'));
    assert.equal(await groups.outOfMemoryKill('vm'), true);
    assert.equal(await groups.outOfMemoryKill('absent'), false);
  }
});

test('swap is bound with memory where the kernel counts it', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'lodge-cgroup-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  await writeFile(join(root, 'cgroup.controllers'), 'cpu memory\n');
  await mkdir(join(root, 'lodge-five'));
  await writeFile(join(root, 'lodge-five', 'memory.swap.max'), 'max');
  const groups = await openCgroups('five', root);
  await groups.create('vm', limits);
  assert.equal(await readFile(join(root, 'lodge-five/vm/memory.swap.max'), 'utf8'), String(3072 * 2 ** 20));
});

test('on this host, limits are raised and lowered, swap with them', async (t) => {
  const instance = `c${randomInt(36 ** 4).toString(36)}`;
  const groups = await openCgroups(instance);
  t.after(async () => {
    await groups.remove('vm');
    await groups.close();
  });
  const memory = groups.missing.every(({ controller }) => controller !== 'memory');
  await groups.create('vm', limits);
  for (const memoryMib of [8192, 2048]) {
    if (memory) await groups.limit('vm', { ...limits, memoryMib });
    if (memory) assert.equal(await limitOf(`lodge-${instance}/vm`), memoryMib * 2 ** 20);
    const both = await readFile(`/sys/fs/cgroup/memory/lodge-${instance}/vm/memory.memsw.limit_in_bytes`, 'utf8').catch(
      () => null,
    );
    if (both !== null) assert.equal(Number(both), memoryMib * 2 ** 20);
  }
});

test('without the memory controller nothing starts, unless the operator says that it may', async () => {
  for (const controller of ['memory', 'cpu'] as const) {
    const groups = { ...(await openCgroups('six', '/proc')), missing: [{ controller, reason: 'not mounted' }] };
    assertBounded(groups, 'allow');
    if (controller === 'cpu') assertBounded(groups, 'refuse');
    else assert.throws(() => assertBounded(groups, 'refuse'), /not mounted.*LODGE_UNBOUND_MEMORY=allow/s);
  }
});

test('a host that lets us make no group is reported', async () => {
  const groups = await openCgroups('three', '/proc');
  assert.deepEqual(
    groups.missing.map(({ controller }) => controller),
    ['memory', 'cpu'],
  );
  await groups.create('vm', limits);
  await groups.add('vm', process.pid);
  assert.deepEqual(await groups.names(), []);
  await groups.remove('vm');
  await assert.rejects(access('/proc/lodge-three'));
});
