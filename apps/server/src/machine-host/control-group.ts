/**
 * A control group for the control plane, or for its relays, and all that they start: bounds on its memory and on the number
 * of its processes, and the means to end them all. A hostile control plane cannot leave it by any means that it has: only
 * root writes here.
 *
 *   v2: /sys/fs/cgroup/<name>, ended by `cgroup.kill`, or one by one before Linux 5.14
 *   v1: /sys/fs/cgroup/<tree>/<name> for `pids`, `memory` and `freezer`: frozen, killed one by one, thawed
 *
 * Owned by who holds the lock of the data folder, which names it. A kill of this process leaves a group: the next start, or
 * `npm run down`, ends what is in it. Machines have groups of their own (packages/vm) and go on.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ifThere, wasThere } from '@lodge/domain';
import { exists } from '../host/files.ts';

export interface ControlGroup {
  /** The prefix of a command that must run in the group; empty if there is no group. Root runs it. */
  readonly through: readonly string[];
  /** The bounds that this host does not offer. */
  readonly missing: readonly Bound[];
  /** Ends every process in it and removes it. Rejects when some live `endTimeoutMs` later. */
  end(): Promise<void>;
}

export type Bound = 'number of processes' | 'memory';

export interface ControlGroupOptions {
  readonly dataDir: string;
  /** Default: the control plane. */
  readonly of?: keyof typeof usualBounds;
  /** Threads included; a control plane has fewer than 100, and so have its relays. */
  readonly maxProcesses?: number;
  /** Default: a part of the host's memory, and 1 GiB at least. */
  readonly maxBytes?: number;
  /** The mount point of control groups. */
  readonly root?: string;
}

const mountPoint = '/sys/fs/cgroup';
const usualBounds = {
  control: { processes: 1024, ofMemory: 1 / 2 },
  relays: { processes: 256, ofMemory: 1 / 4 },
} as const;
const leastMaxBytes = 2 ** 30;
/** SIGKILL takes a moment, and longer while a process is in a call of a slow disk. */
const endTimeoutMs = 10_000;
const endEveryMs = 5;
const freezeTimeoutMs = 200;

/** Enters each group that stands before `--`, then becomes the command behind it. */
const enterAndRun = 'while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs" || exit 1; shift; done; shift; exec "$@"';
const throughOf = (folders: readonly string[]): [string, ...string[]] => [
  'sh',
  '-c',
  enterAndRun,
  'sh',
  ...folders,
  '--',
];

type Setting = readonly [file: string, value: string];
type TreeName = 'pids' | 'memory' | 'freezer';

/** One folder of processes, and what it binds. */
interface Tree {
  readonly folder: string;
  readonly binds: readonly Bound[];
}

/** Makes it. Processes of an earlier control plane in it are ended first. */
export async function openControlGroup(options: ControlGroupOptions): Promise<ControlGroup> {
  const { dataDir, of = 'control', root = mountPoint } = options;
  const { processes, ofMemory } = usualBounds[of];
  const { maxProcesses = processes, maxBytes = Math.max(leastMaxBytes, Math.floor(totalmem() * ofMemory)) } = options;
  const name = `lodge-${of}-${createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 16)}`;
  const bounds: Readonly<Record<Bound, readonly Setting[]>> = {
    'number of processes': [['pids.max', String(maxProcesses)]],
    memory: memorySettings(maxBytes),
  };
  const opened = (await isUnified(root)) ? [openUnified(root, name, bounds)] : openLegacy(root, name, bounds);
  const trees = (await Promise.all(opened)).filter((tree) => tree !== null);
  const binds = trees.flatMap((tree) => tree.binds);
  const folders = trees.map(({ folder }) => folder);
  return {
    through: folders.length === 0 ? [] : throughOf(folders),
    missing: (['number of processes', 'memory'] as const).filter((bound) => !binds.includes(bound)),
    async end() {
      for (const folder of folders) await endGroup(folder);
    },
  };
}

/** The bounds that `openControlGroup` would find missing, as far as looking shows it. Changes nothing. */
export async function missingBounds(root = mountPoint): Promise<readonly Bound[]> {
  const offered = await readFile(join(root, 'cgroup.controllers'), 'utf8').catch(() => null);
  const has = async (controller: TreeName): Promise<boolean> =>
    offered === null ? exists(join(root, controller, 'cgroup.procs')) : offered.trim().split(' ').includes(controller);
  const [pids, memory] = await Promise.all([has('pids'), has('memory')]);
  return [...(pids ? [] : (['number of processes'] as const)), ...(memory ? [] : (['memory'] as const))];
}

/** The settings of both versions; each kernel has files of one. */
const memorySettings = (maxBytes: number): readonly Setting[] =>
  // If the kernel counts swap, the group uses no more of that.
  ['memory.max', 'memory.swap.max', 'memory.limit_in_bytes', 'memory.memsw.limit_in_bytes'].map((file) => [
    file,
    String(maxBytes),
  ]);

type Bounds = Readonly<Record<Bound, readonly Setting[]>>;

async function openUnified(root: string, name: string, bounds: Bounds): Promise<Tree | null> {
  const folder = join(root, name);
  return openTree(folder, bounds, async () => {
    // The trees are made one at a time: a kernel that refuses one still offers the other.
    for (const controller of ['pids', 'memory'])
      await writeFile(join(root, 'cgroup.subtree_control'), `+${controller}`).catch(() => undefined);
  });
}

function openLegacy(root: string, name: string, bounds: Bounds): Promise<Tree | null>[] {
  const trees: readonly TreeName[] = ['freezer', 'pids', 'memory'];
  return trees.map(async (tree) => {
    if (!(await exists(join(root, tree, 'cgroup.procs')))) return null;
    return openTree(join(root, tree, name), bounds, () => Promise.resolve());
  });
}

/** Null if the host offers no group that a process can enter. */
async function openTree(folder: string, bounds: Bounds, prepare: () => Promise<void>): Promise<Tree | null> {
  // If control groups are mounted read-only, even an absent one cannot be removed.
  if (await exists(folder)) await endGroup(folder);
  try {
    await prepare();
    await mkdir(folder);
  } catch {
    return null;
  }
  const binds: Bound[] = [];
  for (const [bound, settings] of Object.entries(bounds) as [Bound, readonly Setting[]][])
    if (await writeThere(folder, settings)) binds.push(bound);
  if (await canEnter(folder)) return { folder, binds };
  await rmdir(folder).catch(() => undefined);
  return null;
}

/** Writes the settings that this kernel has; false when it has none of them, or refuses one. */
async function writeThere(folder: string, settings: readonly Setting[]): Promise<boolean> {
  let did = false;
  try {
    for (const [file, value] of settings) did = (await writeIfThere(join(folder, file), value)) || did;
  } catch {
    return false;
  }
  return did;
}

/** Tests with a short process whether the group can be entered. */
async function canEnter(folder: string): Promise<boolean> {
  const [command, ...args] = [...throughOf([folder]), 'true'];
  const child = spawn(command, args, { stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}

/** Ends every process in a group, with all that they start meanwhile, and removes it. Succeeds if it is absent. */
async function endGroup(folder: string): Promise<void> {
  const deadline = performance.now() + endTimeoutMs;
  // The kernel counts a process for a moment after its end.
  while (!(await removed(folder))) {
    const pids = await pidsIn(folder);
    if (performance.now() > deadline)
      throw new Error(`Processes of the control plane do not end: ${pids.slice(0, 10).join(', ')}`);
    if (pids.length > 0) await killOnce(folder);
    await sleep(endEveryMs);
  }
}

async function removed(folder: string): Promise<boolean> {
  try {
    await rmdir(folder);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return true;
    if (code === 'EBUSY' || code === 'ENOTEMPTY') return false;
    throw error;
  }
}

async function killOnce(folder: string): Promise<void> {
  if (await writeIfThere(join(folder, 'cgroup.kill'), '1')) return;
  // None starts another. A frozen one does not end either, so its number cannot go to a stranger before the kill.
  await writeIfThere(join(folder, 'pids.max'), '0');
  if (await writeIfThere(join(folder, 'freezer.state'), 'FROZEN')) await untilFrozen(join(folder, 'freezer.state'));
  for (const pid of await pidsIn(folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
  await writeIfThere(join(folder, 'freezer.state'), 'THAWED');
}

/** Waits until the group is frozen, for a bounded time: processes that cannot be frozen now are killed all the same. */
async function untilFrozen(file: string): Promise<void> {
  const deadline = performance.now() + freezeTimeoutMs;
  while ((await readFile(file, 'utf8')).trim() !== 'FROZEN' && performance.now() < deadline) await sleep(1);
}

async function pidsIn(folder: string): Promise<number[]> {
  const text = (await ifThere(readFile(join(folder, 'cgroup.procs'), 'utf8'), 'ENODEV')) ?? '';
  // 0 is a process of another pid namespace, which has no number here.
  return [...new Set(text.split('\n').map(Number))].filter((pid) => pid > 1);
}

/** False when the kernel has no such file. */
const writeIfThere = (file: string, value: string): Promise<boolean> =>
  wasThere(writeFile(file, value, { flag: 'r+' }));

const isUnified = (root: string): Promise<boolean> => exists(join(root, 'cgroup.controllers'));
