/**
 * One VM from nothing to running processors: namespace, disk and control group side by side, then QEMU. Every create takes
 * this path, so it is kept lean; `benchmarks/bare-machine.ts` measures it bare.
 */
import { chmod, chown } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { EgressRules } from '@lodge/domain';
import { credentialDigest } from '@lodge/guest';
import type { Machine } from '@lodge/ports';
import { VmError } from '@lodge/ports';
import { disksOf } from '../machine/browser-device.ts';
import type { BrowserBacking } from '../machine/browser-device.ts';
import { bootVcpus } from '../machine/command-line.ts';
import type { Accelerator } from '../machine/architecture.ts';
import type { MemoryFile } from '../machine/command-line.ts';
import type { AcceleratorAnswer } from '../machine/accelerator.ts';
import type { Cgroups } from '../host/cgroup.ts';
import { diskFileLimit, overheadMib, templateGid } from '../machine/confinement.ts';
import { exists } from '../host/files.ts';
import { writeOverlay } from '../saved/disks.ts';
import { isShared, linkLayers, nameTop, newLayerName, putOnTop, sweepLayers, topOf } from '../saved/layers.ts';
import { diskRate, setDiskRate } from '../machine/disk-rate.ts';
import type { Emulator } from '../machine/emulator.ts';
import { guestMemory } from '../machine/guest-memory.ts';
import { plug } from '../machine/hotplug.ts';
import { launch, withDeath } from '../machine/launch.ts';
import type { LaunchedMachine, Spawned } from '../machine/launch.ts';
import type { HostNetwork, Namespace, NamespaceOptions } from '../network/index.ts';
import type { ProcessMark } from '../host/process.ts';
import { damagedSaved } from '../saved/machine/manifest.ts';
import type { LoadableMemory } from '../saved/machine/manifest.ts';
import { linkWhole } from '../saved/machine/whole.ts';
import type { RunDirectory } from '../saved/run-directory.ts';
import { damaged } from '../saved/snapshot/page-job.ts';
import type { LayJob, MemoryBase, SaveJob } from '../saved/snapshot/page-job.ts';
import type { StoredTemplate } from '../saved/template-shelf.ts';
import type { Thread } from '../host/thread.ts';
import { allSettledOrThrow, throwIfAborted } from '../../waiting.ts';

/** Inputs that all VMs on this host share. */
export interface VmHost {
  readonly network: HostNetwork;
  readonly cgroups: Cgroups;
  readonly emulator: Emulator;
  readonly accelerator: AcceleratorAnswer;
  /** Rate of the counter of emulated guests, kHz; null where they learn it from their processor. */
  readonly counterKhz: number | null;
  /** Port of the LLM broker on the host. */
  readonly brokerPort: number;
  readonly mbitPerVcpu: number | null;
  /** The name in process lists. */
  readonly instance: string;
  /** The operator's factor on how much a VM of each size may read and write. */
  readonly diskRateFactor: number;
}

export interface VmStart {
  readonly directory: RunDirectory;
  readonly slot: number;
  readonly uid: number;
  readonly machine: Machine;
  readonly template: StoredTemplate;
  readonly source: VmSource;
  /** The browser's disk; null: the machine has no device for it. */
  readonly browser: BrowserBacking | null;
  readonly egress: EgressRules;
  /**
   * The credential by which the guest's daemon knows the host. A booting guest gets it from its kernel, any other guest
   * later.
   */
  readonly credential: string;
  readonly onSpawned: (process: ProcessMark) => Promise<void>;
}

/**
 * The initial state of memory, processors and disk. `layers` are those of a saved machine's disk, the top first; without them
 * the disk is made from the template, or is the agent's own. The thread lays a memory's pages; it is started early, and the
 * caller ends it.
 */
export type VmSource =
  | { readonly from: 'clone' | 'boot'; readonly layers?: readonly string[] }
  | {
      readonly from: 'memory';
      readonly memory: LoadableMemory;
      readonly layers: readonly string[];
      readonly thread: Thread<SaveJob | LayJob>;
    };

export interface StartedVm extends LaunchedMachine {
  readonly namespace: Namespace;
  /** Milliseconds of each step. */
  readonly timings: Readonly<Record<string, number>>;
}

/** Starts a VM. Rejects only when none of its work is still running; the caller removes what was made. */
export async function startVm(host: VmHost, start: VmStart, signal: AbortSignal): Promise<StartedVm> {
  const { directory, slot, uid, template, source } = start;
  const { network, cgroups, accelerator, counterKhz } = host;
  const timings: Record<string, number> = {};
  const cgroup = directory.agentId;
  const [namespace, disk] = await allSettledOrThrow([
    timed(timings, 'namespace', () => network.createNamespace(slot, namespaceOptions(host, start))),
    timed(timings, 'disk', () => prepareDisk(start)),
    timed(timings, 'cgroup', () => cgroups.create(cgroup, limitsOf(largest(start), accelerator.accelerator))),
  ]);
  throwIfAborted(signal);
  const machineStart = {
    directory,
    line: {
      accelerator: accelerator.accelerator,
      counterKhz,
      name: `lodge-${host.instance}-${directory.agentId}`,
      kernel: template.kernel,
      initrd: template.initrd,
      disk,
      browser: start.browser,
      memory: memoryOf(host, start),
      tap: namespace.tap,
      credentialDigest: source.from === 'boot' ? credentialDigest(start.credential) : null,
      vcpus: source.from === 'memory' ? source.memory.plugged.vcpus : bootVcpus,
    },
    confinement: {
      uid,
      groups: [templateGid, ...accelerator.groups.filter((gid) => gid !== templateGid)],
      namespace: namespace.path,
      fileSizeLimit: diskFileLimit(template.diskBytes),
      dieWithParent: false,
    },
    devices: devicesOf(start),
    ...(source.from === 'memory'
      ? { beforeLoad: (to: LaunchedMachine) => timed(timings, 'pages', () => layPages(to, source, signal)) }
      : {}),
    onSpawned: async ({ reaperPid, ...process }: Spawned) => {
      const pids = [process.pid, ...(reaperPid === undefined ? [] : [reaperPid])];
      await allSettledOrThrow([...pids.map((pid) => cgroups.add(cgroup, pid)), start.onSpawned(process)]);
    },
    outOfMemoryKill: () => cgroups.outOfMemoryKill(cgroup),
  };
  const launched = await timed(timings, 'qemu', () => launch(machineStart, signal)).catch((error: unknown) => {
    throw source.from === 'memory' && refusesState(error)
      ? new VmError('snapshot_missing', 'QEMU does not load the saved device state', { cause: error })
      : error;
  });
  await timed(timings, 'plug', () => setGoing(launched, host, start, disk, signal));
  return { ...launched, namespace, timings };
}

/** Sizes the machine and lets its guest run. */
async function setGoing(
  launched: LaunchedMachine,
  { diskRateFactor }: VmHost,
  { directory, machine, browser }: VmStart,
  disk: string,
  signal: AbortSignal,
): Promise<void> {
  const { qmp, witness } = launched;
  try {
    const disks = disksOf(browser !== null);
    await allSettledOrThrow([plug(qmp, machine), setDiskRate(qmp, diskRate(machine, diskRateFactor), disks)]);
    throwIfAborted(signal);
    if ((await topOf(directory.disk)) !== disk) await putOnTop(directory.disk, basename(disk));
    await qmp.execute('cont');
  } catch (error) {
    const failure = await withDeath(launched, error);
    witness.expectEnd();
    qmp.close();
    throw failure;
  }
}

/** The file for the memory. Pages that the guest has not written are the file's. */
function memoryOf({ emulator }: VmHost, { directory, template, source }: VmStart): MemoryFile | null {
  const base = baseOf(source);
  if (base === 'none') return null;
  const path = base === 'template' ? template.files.memory : directory.memory;
  return { path, mode: 'copy', readOnly: emulator.mapsReadOnly };
}

const namespaceOptions = ({ brokerPort, mbitPerVcpu }: VmHost, { uid, egress, machine }: VmStart): NamespaceOptions => {
  return { tapOwner: uid, brokerPort, egress, mbit: bandwidthOf(machine, mbitPerVcpu) };
};

/** Mbit/s each way. */
export const bandwidthOf = ({ vcpus }: Machine, mbitPerVcpu: number | null): number | null =>
  mbitPerVcpu === null ? null : vcpus * mbitPerVcpu;

/** The memory of a larger machine begins at that size, and shrinks when its guest runs. */
function largest({ machine, source }: VmStart): Machine {
  if (source.from !== 'memory') return machine;
  return { ...machine, memoryMib: Math.max(machine.memoryMib, source.memory.plugged.memoryMib) };
}

/** The base that the machine's memory is laid over. */
export function baseOf(source: VmSource): MemoryBase {
  if (source.from === 'memory') return source.memory.base;
  return source.from === 'clone' ? 'template' : 'none';
}

function devicesOf({ source, template }: VmStart): string | null {
  if (source.from === 'memory') return source.memory.devicesPath;
  return source.from === 'clone' ? template.files.devices : null;
}

async function layPages(
  { qmp, process }: LaunchedMachine,
  { memory, thread }: VmSource & { from: 'memory' },
  signal: AbortSignal,
): Promise<void> {
  const { base, plugged, pages, pagesPath } = memory;
  const regions = await guestMemory(qmp, process.pid, { base, pluggedMib: plugged.memoryMib });
  const job = { do: 'lay', pid: process.pid, regions, path: pagesPath, ...pages } as const;
  await thread.run(job, signal).catch((error: Error) => {
    const lost = error.message === damaged || (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw lost ? damagedSaved('its memory') : error;
  });
}

/** Whether QEMU says that device state does not fit its machine. */
function refusesState(error: unknown): boolean {
  return error instanceof Error && error.message.includes('load of migration failed');
}

/** Returns the file that the guest is to write. */
async function prepareDisk(start: VmStart): Promise<string> {
  const path = await diskOf(start);
  await chown(path, start.uid, start.uid);
  await chmod(path, 0o600);
  return path;
}

async function diskOf({ directory, source, template }: VmStart): Promise<string> {
  const { disk } = directory;
  if (source.layers) {
    await linkLayers(source.layers, directory.path);
    if (baseOf(source) === 'whole') await linkWhole(dirname(source.layers[0]!), directory.path);
    const name = await writeLayer(directory, basename(source.layers[0]!), template.diskBytes);
    await putOnTop(disk, name);
    return join(directory.path, name);
  }
  if (source.from === 'clone') {
    await writeOverlay({ path: disk, backing: template.files.disk, bytes: template.diskBytes });
    return disk;
  }
  if (!(await exists(disk))) throw new VmError('disk_missing', `${directory.agentId} has no disk to boot`);
  await sweepLayers(disk);
  const top = await topOf(disk);
  if (!(await isShared(top))) return top;
  return join(directory.path, await writeLayer(directory, await nameTop(disk), template.diskBytes));
}

/** Writes an empty layer over another of the folder, and returns its name. */
async function writeLayer({ path }: RunDirectory, backing: string, bytes: number): Promise<string> {
  const name = newLayerName();
  await writeOverlay({ path: join(path, name), backing, bytes });
  return name;
}

export function limitsOf(machine: Machine, accelerator: Accelerator): { memoryMib: number; cpus: number } {
  return { memoryMib: machine.memoryMib + overheadMib(accelerator), cpus: machine.vcpus };
}

async function timed<T>(timings: Record<string, number>, step: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  try {
    return await work();
  } finally {
    timings[step] = Math.round(performance.now() - started);
  }
}
