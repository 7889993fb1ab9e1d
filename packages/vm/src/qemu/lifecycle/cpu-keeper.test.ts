import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { openCgroups } from '../host/cgroup.ts';
import { cpuSeconds, readMark } from '../host/process.ts';
import type { Watched } from '../machine/watch.ts';
import { CpuKeeper, accountAfter, leastWeight, weightOf } from './cpu-keeper.ts';

test('little use costs no weight, long use costs most of it, and idleness gives it back', () => {
  assert.equal(weightOf(4), 1);
  let account = 0;
  for (let i = 0; i < 60; i++) account = accountAfter(account, 5, 5);
  assert.equal(weightOf(account), leastWeight, 'a processor for five minutes');
  for (let i = 0; i < 72; i++) account = accountAfter(account, 0, 5);
  assert.equal(weightOf(account), 1, 'idle for six');
});

test('among busy groups on one processor, one that is new has more than an equal part', async (t) => {
  const instance = `k${randomInt(36 ** 4).toString(36)}`;
  const groups = await openCgroups(instance);
  if (groups.missing.some(({ controller }) => controller === 'cpu')) return t.skip('no cpu controller');
  const names = ['old0', 'old1', 'old2', 'fresh'];
  const vms: Watched[] = [];
  const begin = async (name: string): Promise<void> => {
    const child = spawn('taskset', ['-c', '0', 'sh', '-c', 'while :; do :; done'], { stdio: 'ignore' });
    await groups.create(name, { memoryMib: 64, cpus: 1 });
    await groups.add(name, child.pid!);
    t.after(() => child.kill('SIGKILL'));
    vms.push({ agentId: name, executionId: 'e', process: readMark(child.pid!)! } as Watched);
  };
  const usedSeconds = new Map<string, number>();
  const used = async ({ agentId }: Watched): Promise<number> => usedSeconds.get(agentId) ?? 0;
  const keeper = new CpuKeeper({ watch: { all: () => vms }, cgroups: () => groups, used, log: { debug() {} } });
  for (const name of names) await begin(name);
  await keeper.look();
  for (const name of names.slice(0, 3)) usedSeconds.set(name, 25);
  await keeper.look();
  const spent = () => Promise.all(vms.map((vm) => cpuSeconds(vm.process)));
  const before = await spent();
  let now = before;
  while (now[3]! - before[3]! < 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    now = await spent();
  }
  const parts = now.map((seconds, i) => seconds - before[i]!);
  t.diagnostic(`processor seconds: ${parts.map((each) => each.toFixed(2)).join(', ')}`);
  for (const vm of vms) process.kill(vm.process.pid, 'SIGKILL');
  for (const name of names) await groups.remove(name);
  await groups.close();
  assert.ok(parts[3]! > 1.5 * Math.max(...parts.slice(0, 3)), parts.join(' '));
});

test('a busy agent whose machine is started anew goes on with its account', async () => {
  const weights: number[] = [];
  let vm: Watched | null = null;
  let seconds = 0;
  const keeper = new CpuKeeper({
    watch: { all: () => (vm ? [vm] : []) },
    cgroups: () => ({ weigh: async (_, weight) => void weights.push(weight) }),
    used: async () => seconds,
    log: { debug() {} },
  });
  const runs = (executionId: string, used: number): Promise<void> => {
    vm = { agentId: 'a', executionId } as Watched;
    seconds = used;
    return keeper.look();
  };
  await runs('first', 0);
  await runs('first', 25);
  vm = null;
  await keeper.look();
  await runs('second', 1);
  await runs('third', 25);
  assert.deepEqual(weights, [1, 0.2, 0.2, 0.1]);
});
