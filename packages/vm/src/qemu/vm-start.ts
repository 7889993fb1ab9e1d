/**
 * One VM from nothing to running processors: namespace, disk and control group side by side, then QEMU. The path of every
 * create, kept lean; `floor.ts` measures it bare.
 */
import { chmod, chown } from 'node:fs/promises';
import type { Machine } from '@lodge/engine/ports';
import { VmError } from '@lodge/engine/ports';
import type { Accelerator } from './command-line.ts';
import type { AcceleratorAnswer } from './accelerator.ts';
import type { Cgroups } from './cgroup.ts';
import { diskFileLimit, overheadMib, templateGid } from './confinement.ts';
import { writeOverlay } from './disks.ts';
import type { Emulator } from './emulator.ts';
import { plug } from './hotplug.ts';
import { launch } from './launch.ts';
import type { LaunchedMachine } from './launch.ts';
import type { HostNetwork, Namespace } from './network/index.ts';
import type { ProcessMark } from './process.ts';
import type { RunDirectory } from './run-directory.ts';
import type { StoredTemplate } from './template-store.ts';
import { throwIfAborted } from '../waiting.ts';

/** What VMs are made with on this host. */
export interface VmHost {
  readonly network: HostNetwork;
  readonly cgroups: Cgroups;
  readonly emulator: Emulator;
  readonly accelerator: AcceleratorAnswer;
  /** Port of the LLM broker on the host. */
  readonly brokerPort: number;
  /** Shown in process lists. */
  readonly instance: string;
}

export interface VmStart {
  readonly directory: RunDirectory;
  readonly slot: number;
  readonly uid: number;
  readonly machine: Machine;
  readonly template: StoredTemplate;
  readonly from: 'clone' | 'boot';
  readonly onSpawned: (process: ProcessMark) => Promise<void>;
}

export interface StartedVm extends LaunchedMachine {
  readonly namespace: Namespace;
  /** Milliseconds each step took. */
  readonly timings: Readonly<Record<string, number>>;
}

/** Rejects only when nothing it began is still under way; what it made is there for the caller to take away. */
export async function startVm(host: VmHost, start: VmStart, signal: AbortSignal): Promise<StartedVm> {
  const { directory, slot, uid, machine, template, from } = start;
  const { network, cgroups, accelerator } = host;
  const timings: Record<string, number> = {};
  const cgroup = directory.agentId;
  const [namespace] = await together([
    timed(timings, 'namespace', () => network.createNamespace(slot, { tapOwner: uid, brokerPort: host.brokerPort })),
    timed(timings, 'disk', () => prepareDisk(start)),
    timed(timings, 'cgroup', () => cgroups.create(cgroup, limitsOf(machine, accelerator.accelerator))),
  ]);
  throwIfAborted(signal);
  const machineStart = {
    directory,
    line: {
      accelerator: accelerator.accelerator,
      name: `lodge-${host.instance}-${directory.agentId}`,
      kernel: template.kernel,
      initrd: template.initrd,
      disk: directory.disk,
      memory:
        from === 'clone'
          ? { path: template.files.memory, mode: 'copy' as const, readOnly: host.emulator.mapsReadOnly }
          : null,
      tap: namespace.tap,
    },
    confinement: {
      uid,
      groups: [templateGid, ...accelerator.groups.filter((gid) => gid !== templateGid)],
      namespace: namespace.path,
      fileSizeLimit: diskFileLimit(template.diskBytes),
      dieWithParent: false,
    },
    devices: from === 'clone' ? template.files.devices : null,
    onSpawned: async (process: ProcessMark) => {
      await together([cgroups.add(cgroup, process.pid), start.onSpawned(process)]);
    },
  };
  const launched = await timed(timings, 'qemu', () => launch(machineStart, signal));
  try {
    await timed(timings, 'plug', async () => {
      await plug(launched.qmp, machine);
      await launched.qmp.execute('cont');
    });
  } catch (error) {
    launched.qmp.close();
    throw error;
  }
  return { ...launched, namespace, timings };
}

async function prepareDisk({ directory, from, template, uid }: VmStart): Promise<void> {
  if (from === 'clone') {
    await writeOverlay({ path: directory.disk, backing: template.files.disk, bytes: template.diskBytes });
  }
  await chown(directory.disk, uid, uid).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new VmError('disk_missing', `${directory.agentId} has no disk to boot`);
    throw error;
  });
  await chmod(directory.disk, 0o600);
}

function limitsOf(machine: Machine, accelerator: Accelerator): { memoryMib: number; cpus: number } {
  return { memoryMib: machine.memoryMib + overheadMib(accelerator), cpus: machine.vcpus };
}

/** `Promise.all` that settles only when every part has, so that nothing goes on behind the back of a clean-up. */
export async function together<T extends readonly unknown[]>(parts: {
  readonly [K in keyof T]: Promise<T[K]>;
}): Promise<T> {
  const settled = await Promise.allSettled(parts);
  for (const part of settled) if (part.status === 'rejected') throw part.reason;
  return settled.map((part) => (part as PromiseFulfilledResult<unknown>).value) as unknown as T;
}

async function timed<T>(timings: Record<string, number>, step: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  try {
    return await work();
  } finally {
    timings[step] = Math.round(performance.now() - started);
  }
}
