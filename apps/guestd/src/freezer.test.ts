/** On the test machine's own kernel, in a control group below which nothing else is. */
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Freezer } from './freezer.ts';
import { Generation, identityFrom } from './generation.ts';
import { Journal } from './journal.ts';
import { start } from './processes.ts';

const root = mkdtempSync('/tmp/lodge-freezer-');
const hierarchy = join(root, 'hierarchy');
const group = join(hierarchy, `lodge-test-${process.pid}`);
const groups = join(root, 'sys/fs/cgroup');
const journal = new Journal(join(root, 'log'));
const browser = { uid: 0, port: 0, idleMs: 1_000, program: null };
const settings = { root, port: 0, peer: null, credentialDigest: null, agent: { uid: 0, gid: 0 }, browser };
const never = new AbortController().signal;
const children: ChildProcess[] = [];

const run = (...argv: readonly string[]): boolean => spawnSync(argv[0]!, argv.slice(1)).status === 0;
const home = (): string => /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1] ?? '/';
let cameFrom = '/';
let skip = false;

before(() => {
  for (const folder of [hierarchy, groups, join(root, 'workspace')]) mkdirSync(folder, { recursive: true });
  skip = !run('mount', '-t', 'cgroup2', 'cgroup2', hierarchy);
  if (skip) return;
  cameFrom = home();
  mkdirSync(group);
  run('mount', '--bind', group, groups);
});
after(async () => {
  const ends = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  for (const child of ends) child.kill('SIGKILL');
  await Promise.all(ends.map((child) => once(child, 'exit')));
  if (!skip) {
    writeFileSync(join(hierarchy, cameFrom, 'cgroup.procs'), String(process.pid));
    run('umount', groups);
    for (const name of ['agent', 'lodge', 'other', '']) rmdirSync(join(group, name));
  }
  run('umount', hierarchy);
  rmSync(root, { recursive: true, force: true });
});

/** Answers each line that it is sent, as long as it runs. */
class Echo {
  readonly child: ChildProcess;
  answers = 0;

  constructor(child: ChildProcess) {
    this.child = child;
    children.push(child);
    child.stdout!.on('data', () => (this.answers += 1));
  }

  ask(): void {
    this.child.stdin!.write('?\n');
  }
}
const cat = { argv: ['cat'], user: 'root', stdio: 'pipe' } as const;
const started = (): Echo => new Echo(start(settings, cat));
const answered = async (echo: Echo, count: number): Promise<void> => {
  while (echo.answers < count) await sleep(2);
};

test('what was started, what it missed and what is in other groups stands still until it is let go on', async (t) => {
  if (skip) return t.skip('no control groups of version 2 here');
  const helper = new Echo(spawn('cat'));
  const freezer = new Freezer(root, journal, () => [helper.child.pid!]);
  // In the daemon's group, as what it forks before it is moved.
  writeFileSync(join(groups, 'lodge/cgroup.procs'), String(helper.child.pid));
  const missed = new Echo(spawn('cat'));
  const own = started();
  mkdirSync(join(groups, 'other'));
  const elsewhere = new Echo(spawn('cat'));
  writeFileSync(join(groups, 'other/cgroup.procs'), String(elsewhere.child.pid));
  const all = [missed, own, elsewhere];
  for (const echo of all) echo.ask();
  for (const echo of all) await answered(echo, 1);

  await freezer.freeze(never);
  const late = started();
  const ofDaemon = new Echo(start(settings, { ...cat, isOwn: true }));
  for (const echo of [...all, late, helper, ofDaemon]) echo.ask();
  for (const echo of [helper, ofDaemon]) await answered(echo, 1);
  // Longer than a turn of the scheduler: who could answer would have.
  await sleep(100);
  assert.deepEqual(
    [...all, late].map(({ answers }) => answers),
    [1, 1, 1, 0],
  );

  freezer.thaw();
  for (const [index, echo] of [...all, late].entries()) await answered(echo, index === 3 ? 1 : 2);
  freezer.thaw();

  await t.test('a host that has gone lets all go on', async () => {
    const gone = new AbortController();
    gone.abort();
    await assert.rejects(freezer.freeze(gone.signal), { status: 409 });
    own.ask();
    await answered(own, 3);
  });
});

test('a generation is one, however often it is told; its number is raised in place', () => {
  for (const folder of ['proc/sys/kernel', 'etc']) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'etc/hosts'), '127.0.0.1 localhost agent\n10.0.0.1 mine\n');
  const file = (name: string): string => readFileSync(join(root, name), 'utf8');
  const count = (): number => readFileSync(join(root, 'run/lodge/generation-count')).readUInt32LE();
  const generation = new Generation(root, journal);
  const first = { generation: 'a'.repeat(32), hostname: 'abc123', machineId: 'b'.repeat(32) };
  generation.begin(identityFrom(first));
  generation.begin(first);
  assert.equal(count(), 1);
  // The generation of a daemon that crashed and started again.
  new Generation(root, journal).begin({ ...first, generation: 'c'.repeat(32) });
  assert.equal(count(), 2);
  assert.equal(file('run/lodge/generation'), `${'c'.repeat(32)}\n`);
  assert.equal(file('etc/hosts'), '127.0.0.1 localhost agent abc123\n10.0.0.1 mine\n');
  assert.deepEqual([file('etc/hostname'), file('etc/machine-id')], ['abc123\n', `${first.machineId}\n`]);
  assert.equal(file('proc/sys/kernel/hostname'), 'abc123');
  for (const bad of [{ ...first, hostname: 'a b' }, { ...first, generation: 'a' }, { hostname: 'a' }, null])
    assert.throws(() => identityFrom(bad), { status: 400 });
});
