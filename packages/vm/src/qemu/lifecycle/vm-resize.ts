/** Brings a running VM to another size: first its devices, then its bounds. */
import type { GuestClient } from '@lodge/guest';
import type { Machine } from '@lodge/ports';
import type { Cgroups } from '../host/cgroup.ts';
import type { Accelerator } from '../machine/architecture.ts';
import { disksOf } from '../machine/browser-device.ts';
import { diskRate, setDiskRate } from '../machine/disk-rate.ts';
import { awaitVcpus, plug, settleMemory } from '../machine/hotplug.ts';
import type { Qmp } from '../machine/qmp.ts';
import type { QemuDriverOptions } from '../options.ts';
import type { RunDirectory, VmRecord } from '../saved/run-directory.ts';
import { bandwidthOf, limitsOf } from './vm-start.ts';

export interface ResizableVm {
  readonly directory: RunDirectory;
  readonly record: VmRecord;
  readonly qmp: Qmp;
  readonly guest: GuestClient;
  readonly cgroups: Cgroups;
  readonly accelerator: Accelerator;
  readonly options: QemuDriverOptions;
}

/** Multiplied by the host's pace. */
const resizeTimeoutMs = 60_000;

/** Returns the machine as it then is. A bound is raised before the guest may use more, and lowered after it uses less. */
export async function resizeVm(vm: ResizableVm, machine: Machine, signal: AbortSignal): Promise<Machine> {
  const { directory, record, qmp, guest, cgroups, accelerator, options } = vm;
  const limit = ({ vcpus, memoryMib }: Machine): Promise<void> =>
    cgroups.limit(record.agentId, limitsOf({ vcpus, memoryMib, diskGib: machine.diskGib }, accelerator));
  const most = Math.max(machine.memoryMib, record.machine.memoryMib);
  await limit({ ...machine, vcpus: Math.max(machine.vcpus, record.machine.vcpus), memoryMib: most });
  await plug(qmp, machine);
  const bound = { timeoutMs: resizeTimeoutMs * guest.pace, signal };
  const growing = { qmp, guest, machine, cpusOnline: null };
  const [, memoryMib] = await Promise.all([awaitVcpus(growing, bound), settleMemory(growing, bound)]);
  const now = { ...machine, memoryMib };
  await limit(now);
  const { network, mbitPerVcpu = null, diskRateFactor = 1 } = options;
  await setDiskRate(qmp, diskRate(now, diskRateFactor), disksOf(record.browser !== undefined));
  await network.setBandwidth(record.slot!, bandwidthOf(now, mbitPerVcpu));
  await directory.write({ ...record, machine: now });
  return now;
}
