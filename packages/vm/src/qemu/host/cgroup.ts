/**
 * A control group per VM: a bound on what its QEMU takes of memory and processor time, whatever the guest does.
 * Both layouts are served: one tree (v2, `/sys/fs/cgroup/lodge-<instance>/<name>`) and one tree a controller (v1,
 * `/sys/fs/cgroup/<controller>/lodge-<instance>/<name>`). A host without a controller is reported and not refused: the
 * guest's own memory size still binds it.
 *
 * The groups lie at the top and not below ours, so that a service manager that ends our group leaves the VMs running.
 */
import { access, mkdir, readFile, readdir, rmdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { until } from '../../waiting.ts';

export interface CgroupLimits {
  readonly memoryMib: number;
  /** Processors' worth of time. */
  readonly cpus: number;
}

export interface Cgroups {
  /** Controllers this host does not offer us, with the reason: their limits do not hold. */
  readonly missing: readonly string[];
  create(name: string, limits: CgroupLimits): Promise<void>;
  /** Changes the limits of a group with processes in it. A bound on memory that is exceeded already stays as it was: nothing is killed for it. */
  limit(name: string, limits: CgroupLimits): Promise<void>;
  /** Moves a process, all its threads with it, into the group. */
  add(name: string, pid: number): Promise<void>;
  /** The group must have no process. Absent is success. */
  remove(name: string): Promise<void>;
  names(): Promise<string[]>;
  /** Removes this instance's own group if there is none in it. */
  close(): Promise<void>;
}

type Controller = 'memory' | 'cpu';
const controllers: readonly Controller[] = ['memory', 'cpu'];
const periodUs = 100_000;

/** A tree this instance's groups lie in, and the files that hold the limits there. */
interface Tree {
  readonly parent: string;
  /** What holds for all of the instance's groups together. */
  readonly shared: readonly (readonly [file: string, value: string])[];
  readonly limits: (limits: CgroupLimits) => readonly (readonly [file: string, value: string])[];
  /** Tells how much memory is in use now. */
  readonly memoryInUse: string;
}

/** Looks at what the host has and makes this instance's group. */
export async function openCgroups(instance: string, root = '/sys/fs/cgroup'): Promise<Cgroups> {
  const parent = `lodge-${instance}`;
  const unified = await exists(join(root, 'cgroup.controllers'));
  const missing: string[] = [];
  const trees: Tree[] = [];
  try {
    if (unified) {
      trees.push(await openUnified(root, parent, missing));
    } else {
      for (const controller of controllers) {
        if (await exists(join(root, controller, 'cgroup.procs'))) trees.push(legacyTree(root, parent, controller));
        else missing.push(`${controller}: not mounted`);
      }
    }
    for (const tree of trees) {
      await mkdir(tree.parent, { recursive: true });
      for (const [file, value] of tree.shared) await writeFile(join(tree.parent, file), value);
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    missing.splice(0, missing.length, ...controllers.map((controller) => `${controller}: ${reason}`));
    trees.length = 0;
  }
  return new Groups(trees, missing);
}

class Groups implements Cgroups {
  readonly missing: readonly string[];
  private readonly trees: readonly Tree[];

  constructor(trees: readonly Tree[], missing: readonly string[]) {
    this.trees = trees;
    this.missing = missing;
  }

  async create(name: string, limits: CgroupLimits): Promise<void> {
    for (const tree of this.trees) {
      await mkdir(join(tree.parent, name), { recursive: true });
      for (const [file, value] of tree.limits(limits)) await writeFile(join(tree.parent, name, file), value);
    }
  }

  async limit(name: string, limits: CgroupLimits): Promise<void> {
    for (const tree of this.trees) {
      for (const [file, value] of tree.limits(limits)) {
        const folder = join(tree.parent, name);
        if (file.startsWith('memory')) {
          const used = Number(await readFile(join(folder, tree.memoryInUse), 'utf8'));
          if (used > Number(value)) continue;
        }
        await writeFile(join(folder, file), value);
      }
    }
  }

  async add(name: string, pid: number): Promise<void> {
    for (const { parent } of this.trees) await writeFile(join(parent, name, 'cgroup.procs'), String(pid));
  }

  async remove(name: string): Promise<void> {
    for (const { parent } of this.trees) {
      // A process that has just ended is still counted for a moment.
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

  async close(): Promise<void> {
    for (const { parent } of this.trees) await removed(parent);
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

async function openUnified(root: string, parent: string, missing: string[]): Promise<Tree> {
  const offered = (await readFile(join(root, 'cgroup.controllers'), 'utf8')).trim().split(' ');
  const usable = controllers.filter((controller) => offered.includes(controller));
  missing.push(...controllers.filter((c) => !usable.includes(c)).map((c) => `${c}: not in cgroup.controllers`));
  await mkdir(join(root, parent), { recursive: true });
  const enable = usable.map((controller) => `+${controller}`).join(' ');
  if (enable !== '') {
    await writeFile(join(root, 'cgroup.subtree_control'), enable);
    await writeFile(join(root, parent, 'cgroup.subtree_control'), enable);
  }
  const files = {
    memory: ({ memoryMib }: CgroupLimits) => ['memory.max', String(memoryMib * 2 ** 20)] as const,
    cpu: ({ cpus }: CgroupLimits) => ['cpu.max', `${cpus * periodUs} ${periodUs}`] as const,
  };
  return {
    parent: join(root, parent),
    shared: [],
    limits: (limits) => usable.map((controller) => files[controller](limits)),
    memoryInUse: 'memory.current',
  };
}

function legacyTree(root: string, parent: string, controller: Controller): Tree {
  const files = {
    memory: ({ memoryMib }: CgroupLimits) => [['memory.limit_in_bytes', String(memoryMib * 2 ** 20)]] as const,
    cpu: ({ cpus }: CgroupLimits) =>
      [
        ['cpu.cfs_period_us', String(periodUs)],
        ['cpu.cfs_quota_us', String(cpus * periodUs)],
      ] as const,
  };
  // Here processes at the top count one by one against a whole group, which has the weight of one unless it is told otherwise.
  const weight = ['cpu.shares', String(1024 * availableParallelism())] as const;
  return {
    parent: join(root, controller, parent),
    shared: controller === 'cpu' ? [weight] : [],
    limits: files[controller],
    memoryInUse: 'memory.usage_in_bytes',
  };
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
