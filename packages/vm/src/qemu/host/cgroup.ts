/**
 * A control group per VM: it bounds the memory and processor time of the VM's QEMU, whatever the guest does. Both layouts
 * work: one tree (v2, `/sys/fs/cgroup/lodge-<instance>/<name>`) and one tree a controller (v1,
 * `/sys/fs/cgroup/<controller>/lodge-<instance>/<name>`).
 *
 * Nothing else binds a guest's memory. Every machine has the addresses of the largest one, and with virtio-mem the guest
 * itself must not touch memory that it was not given. So the driver does not start without the memory controller unless an
 * option allows it (`assertBounded`, docs/adr/0032-what-clones-share.md). Without the cpu controller a guest may use all
 * processors.
 *
 * The groups lie at the top and not below Lodge's own, so that a service manager that ends Lodge's group leaves the VMs
 * running.
 */
import { access, mkdir, readFile, readdir, rmdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { VmError } from '@lodge/ports';
import { until } from '../../waiting.ts';
import { exists } from './files.ts';
import { pageOut } from './page-out.ts';

export interface CgroupLimits {
  readonly memoryMib: number;
  /** Processor time, in processors. */
  readonly cpus: number;
}

export interface MissingController {
  readonly controller: Controller;
  readonly reason: string;
}

export type Controller = 'memory' | 'cpu';
const controllers: readonly Controller[] = ['memory', 'cpu'];
const periodUs = 100_000;
const mountPoint = '/sys/fs/cgroup';

type Setting = readonly [file: string, value: string];

/** A tree with this instance's groups, and the files that hold the limits there. */
interface Tree {
  readonly parent: string;
  readonly limits: (limits: CgroupLimits) => readonly Setting[];
  /** The smallest weight that still makes progress beside busy VMs. */
  readonly yielding: readonly Setting[];
  /** The settings for a part of the usual weight. */
  readonly weight: (part: number) => readonly Setting[];
  /** The file that shows how much of the bounded memory is in use now. */
  readonly memoryInUse: string;
  /** The file that makes the kernel page out the group's memory; empty where this tree has none. */
  readonly reclaim: string;
  /** The file whose line `oom_kill` counts out-of-memory kills; empty where this tree has none. */
  readonly kills: string;
}

/** Looks at the host's layout and makes this instance's group. */
export async function openCgroups(instance: string, root = mountPoint): Promise<Cgroups> {
  const parent = `lodge-${instance}`;
  if (await isUnified(root)) return openUnified(root, parent);
  const missing: MissingController[] = [];
  const trees: Tree[] = [];
  for (const controller of controllers) {
    try {
      trees.push(await openLegacy(join(root, controller), parent, controller));
    } catch (error) {
      missing.push({ controller, reason: isAbsent(error) ? 'not mounted' : messageOf(error) });
    }
  }
  return new Groups(trees, missing);
}

/** The controllers that `openCgroups` would find missing, as far as looking shows it. Changes nothing. */
export async function missingControllers(root = mountPoint): Promise<readonly MissingController[]> {
  if (await isUnified(root)) return notOffered(root);
  const found: MissingController[] = [];
  for (const controller of controllers) {
    if (!(await exists(join(root, controller, 'cgroup.procs')))) found.push({ controller, reason: 'not mounted' });
  }
  return found;
}

/** Rejects if a guest's memory would have no bound and no option allows that. */
export function assertBounded({ missing }: Cgroups, unbound: 'refuse' | 'allow'): void {
  const lack = missing.find(({ controller }) => controller === 'memory');
  if (!lack || unbound === 'allow') return;
  throw new VmError(
    'failed',
    `There is no memory controller (${lack.reason}), so any agent could take 16 GiB of this host, whatever its size. ` +
      'Mount the controller at /sys/fs/cgroup, or set LODGE_UNBOUND_MEMORY=allow if you trust all agents.',
  );
}

class Groups {
  /** Controllers that this host does not offer: their limits do not hold. */
  readonly missing: readonly MissingController[];
  private readonly trees: readonly Tree[];

  constructor(trees: readonly Tree[], missing: readonly MissingController[]) {
    this.trees = trees;
    this.missing = missing;
  }

  async create(name: string, limits: CgroupLimits): Promise<void> {
    await this.make(name, (tree) => tree.limits(limits));
  }

  /** Makes a group without bounds. Its processes have a twentieth of the weight of another group's when both want to run. */
  async createYielding(name: string): Promise<void> {
    await this.make(name, ({ yielding }) => yielding);
  }

  /**
   * Changes the limits of a group with processes in it. A memory bound below the current use stays as it was, so that
   * nothing is killed for it.
   */
  async limit(name: string, limits: CgroupLimits): Promise<void> {
    for (const tree of this.trees) {
      const folder = join(tree.parent, name);
      const settings = tree.limits(limits);
      const isMemory = ([file]: Setting): boolean => file.startsWith('memory');
      const bytes = Number(settings.find(isMemory)?.[1] ?? Infinity);
      const over = bytes < Infinity && Number(await readFile(join(folder, tree.memoryInUse), 'utf8')) > bytes;
      await write(folder, over ? settings.filter((setting) => !isMemory(setting)) : settings);
    }
  }

  /** Gives the group's processes a part (0.1 to 1) of the usual weight when others want to run too. */
  async weigh(name: string, part: number): Promise<void> {
    for (const { parent, weight } of this.trees) await write(join(parent, name), weight(part));
  }

  /** Moves a process with all its threads into the group. */
  async add(name: string, pid: number): Promise<void> {
    for (const { parent } of this.trees) await writeFile(join(parent, name, 'cgroup.procs'), String(pid));
  }

  /** Whether the kernel has killed a process of the group for lack of memory, the group's own or the host's. */
  async outOfMemoryKill(name: string): Promise<boolean> {
    const files = this.trees.filter(({ kills }) => kills !== '').map(({ parent, kills }) => join(parent, name, kills));
    const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
    return texts.some((text) => /^oom_kill [1-9]/m.test(text));
  }

  /**
   * Pages out the memory of the group, as far as swap has room. Ends within a moment of the signal, and within a minute.
   * Does nothing where the kernel cannot.
   */
  async pageOut(name: string, signal: AbortSignal): Promise<void> {
    for (const { parent, reclaim } of this.trees)
      if (reclaim !== '') await pageOut(join(parent, name), reclaim, signal);
  }

  /** Removes the group, which must have no process. Succeeds if it is absent. */
  async remove(name: string): Promise<void> {
    for (const { parent } of this.trees) {
      // The kernel counts a process for a moment after its end.
      const wait = { what: `control group ${name}`, everyMs: 5, timeoutMs: 5000 };
      await until(() => removed(join(parent, name)), wait);
    }
  }

  async names(): Promise<string[]> {
    const found = new Set<string>();
    for (const { parent } of this.trees) {
      for (const entry of await readdir(parent, { withFileTypes: true }))
        if (entry.isDirectory()) found.add(entry.name);
    }
    return [...found];
  }

  /** Removes this instance's own group if it is empty. */
  async close(): Promise<void> {
    for (const { parent } of this.trees) await removed(parent);
  }

  private async make(name: string, settingsOf: (tree: Tree) => readonly Setting[]): Promise<void> {
    for (const tree of this.trees) {
      await mkdir(join(tree.parent, name), { recursive: true });
      await write(join(tree.parent, name), settingsOf(tree));
    }
  }
}

/**
 * Version 1 keeps the bound of memory with swap at no less than that of memory alone, so raising and lowering need different
 * orders.
 */
async function write(folder: string, settings: readonly Setting[]): Promise<void> {
  const inOrder = async (order: readonly Setting[]): Promise<void> => {
    for (const [file, value] of order) await writeFile(join(folder, file), value);
  };
  try {
    await inOrder(settings);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
    await inOrder(settings.toReversed());
  }
}

async function removed(path: string): Promise<true | null> {
  try {
    await rmdir(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return true;
    if (code === 'EBUSY' || code === 'ENOTEMPTY') return null;
    throw error;
  }
}

async function openUnified(root: string, parent: string): Promise<Cgroups> {
  const missing = [...(await notOffered(root))];
  const folder = join(root, parent);
  const usable: Controller[] = [];
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    return new Groups(
      [],
      controllers.map((controller) => ({ controller, reason: messageOf(error) })),
    );
  }
  for (const controller of controllers) {
    if (missing.some((lack) => lack.controller === controller)) continue;
    try {
      // The controllers are enabled one at a time: a kernel that refuses one (cpu, beside real-time processes) still enables
      // the other.
      for (const above of [root, folder]) await writeFile(join(above, 'cgroup.subtree_control'), `+${controller}`);
      usable.push(controller);
    } catch (error) {
      missing.push({ controller, reason: messageOf(error) });
    }
  }
  const swap = (await exists(join(folder, 'memory.swap.max'))) ? ['memory.swap.max'] : [];
  const settings: Record<Controller, (limits: CgroupLimits) => readonly Setting[]> = {
    memory: (limits) => ['memory.max', ...swap].map((file) => [file, bytesOf(limits)]),
    cpu: ({ cpus }) => [['cpu.max', `${cpus * periodUs} ${periodUs}`]],
  };
  const limits = (wanted: CgroupLimits): Setting[] => usable.flatMap((controller) => settings[controller](wanted));
  const [kills, reclaim] = usable.includes('memory') ? ['memory.events', 'memory.reclaim'] : ['', ''];
  const yielding: Setting[] = usable.includes('cpu') ? [['cpu.weight', '5']] : [];
  const weight = (part: number): Setting[] =>
    usable.includes('cpu') ? [['cpu.weight', String(Math.round(100 * part))]] : [];
  const tree = { parent: folder, limits, yielding, weight, memoryInUse: 'memory.current', reclaim, kills };
  return new Groups([tree], missing);
}

async function openLegacy(root: string, name: string, controller: Controller): Promise<Tree> {
  await access(join(root, 'cgroup.procs'));
  const parent = join(root, name);
  await mkdir(parent, { recursive: true });
  if (controller === 'cpu') {
    // Here processes at the top compete one by one with a whole group, which has the weight of one process by default.
    await writeFile(join(parent, 'cpu.shares'), String(1024 * availableParallelism()));
    const quota = ({ cpus }: CgroupLimits): Setting[] => [
      ['cpu.cfs_period_us', String(periodUs)],
      ['cpu.cfs_quota_us', String(cpus * periodUs)],
    ];
    const shares = (part: number): Setting[] => [['cpu.shares', String(Math.round(1024 * part))]];
    const none = { memoryInUse: '', reclaim: '', kills: '' };
    return { parent, limits: quota, yielding: [['cpu.shares', '51']], weight: shares, ...none };
  }
  // If the kernel counts swap, a guest may have no more of both together than it may have of memory.
  const swap = await exists(join(parent, 'memory.memsw.limit_in_bytes'));
  const files = ['memory.limit_in_bytes', ...(swap ? ['memory.memsw.limit_in_bytes'] : [])];
  return {
    parent,
    limits: (limits) => files.map((file) => [file, bytesOf(limits)]),
    yielding: [],
    weight: () => [],
    memoryInUse: swap ? 'memory.memsw.usage_in_bytes' : 'memory.usage_in_bytes',
    reclaim: 'memory.force_empty',
    kills: 'memory.oom_control',
  };
}

async function notOffered(root: string): Promise<readonly MissingController[]> {
  const offered = (await readFile(join(root, 'cgroup.controllers'), 'utf8')).trim().split(' ');
  return controllers
    .filter((controller) => !offered.includes(controller))
    .map((controller) => ({ controller, reason: 'not in cgroup.controllers' }));
}

function bytesOf({ memoryMib }: CgroupLimits): string {
  return String(memoryMib * 2 ** 20);
}

function isUnified(root: string): Promise<boolean> {
  return exists(join(root, 'cgroup.controllers'));
}

function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export type Cgroups = Pick<Groups, keyof Groups>;
