/** The control group of the control plane, on this kernel. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, test } from 'node:test';
import { missingBounds, openControlGroup } from './control-group.ts';
import type { ControlGroup } from './control-group.ts';

/** The tree of version 2, which stands alone or beside those of version 1. */
const unified = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified'].find((root) =>
  existsSync(join(root, 'cgroup.controllers')),
);
const noUnified = process.geteuid!() === 0 && unified !== undefined ? false : 'no control groups of version 2 here';
const noGroups = process.geteuid!() === 0 && (await missingBounds()).length === 0 ? false : 'no control groups here';
let dataDir: string;
const opened: ControlGroup[] = [];
beforeEach(() => {
  dataDir = join(tmpdir(), `lodge-${randomUUID()}`);
});
afterEach(async () => {
  for (const group of opened.splice(0)) await group.end();
});

async function open(
  options: { readonly maxProcesses?: number; readonly maxBytes?: number; readonly root?: string } = {},
) {
  const group = await openControlGroup({ dataDir, ...options });
  opened.push(group);
  return group;
}

function run(group: ControlGroup, script: string): ChildProcess {
  const [command, ...args] = [...group.through, 'sh', '-c', script];
  return spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
}

async function lines(child: ChildProcess, count: number): Promise<string[]> {
  const found: string[] = [];
  for await (const line of createInterface({ input: child.stdout! })) if (found.push(line) === count) break;
  return found;
}

const isAlive = (pid: string): boolean => {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
};

test(
  'all that it started ends with it, also in sessions of their own and while they start more',
  { skip: noGroups },
  async () => {
    const group = await open({ maxProcesses: 200 });
    const script = `
    setsid sh -c 'while :; do sleep 60 & done' &
    setsid sh -c 'trap "" TERM INT HUP; echo $$; while :; do sleep 1; done' &
    wait`;
    const child = run(group, script);
    const [survivor] = await lines(child, 1);
    process.kill(child.pid!, 'SIGKILL');
    await once(child, 'exit');
    assert.ok(isAlive(survivor!), 'it outlives the first process');
    await group.end();
    assert.ok(!isAlive(survivor!));
    await group.end();
  },
);

test('with the tree of version 2 all that it started ends with it too', { skip: noUnified }, async () => {
  const group = await open({ root: unified! });
  const child = run(group, `setsid sh -c 'trap "" TERM; echo $$; while :; do sleep 1; done' & wait`);
  const [survivor] = await lines(child, 1);
  assert.match(readFileSync(`/proc/${survivor}/cgroup`, 'utf8'), /^0::\/lodge-control-\w+$/m);
  await group.end();
  assert.ok(!isAlive(survivor!));
});

test(
  'what one from before left is ended at the next start, which is not held up by a freeze',
  { skip: noGroups },
  async () => {
    const first = await open();
    const child = run(first, 'echo $$; sleep 60');
    const [left] = await lines(child, 1);
    // The state that a kill in the middle of the end leaves.
    const own = readFileSync(`/proc/${left}/cgroup`, 'utf8');
    const legacy = /:freezer:(\/lodge-control-\w+)$/m.exec(own)?.[1];
    if (legacy) writeFileSync(`/sys/fs/cgroup/freezer${legacy}/freezer.state`, 'FROZEN');
    const second = await open();
    assert.ok(!isAlive(left!));
    const [said] = await lines(run(second, 'echo runs'), 1);
    assert.equal(said, 'runs');
  },
);

test('the number of its processes and their memory have a bound', { skip: noGroups }, async () => {
  const group = await open({ maxProcesses: 20, maxBytes: 64 * 2 ** 20 });
  assert.deepEqual(group.missing, []);
  const forks = run(group, 'for i in $(seq 40); do sleep 60 & done 2>/dev/null; wait');
  const [code] = (await once(forks, 'exit')) as [number | null];
  assert.notEqual(code, 0, 'it could start forty');
  const allocates = `const held = []; for (;;) held.push(Buffer.alloc(2 ** 20, 1));`;
  const [command, ...args] = [...(await open({ maxBytes: 64 * 2 ** 20 })).through, process.execPath, '-e', allocates];
  const child = spawn(command, args, { stdio: 'ignore' });
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
  assert.equal(signal, 'SIGKILL');
});

test('where the host has no such group it is told, and what runs in it runs', async () => {
  const root = mkdtempSync(join(tmpdir(), 'lodge-cgroup-'));
  try {
    const group = await openControlGroup({ dataDir, root });
    assert.deepEqual(group.missing, ['number of processes', 'memory']);
    assert.deepEqual(await missingBounds(root), group.missing);
    assert.deepEqual(group.through, []);
    await group.end();
  } finally {
    rmSync(root, { recursive: true });
  }
});
