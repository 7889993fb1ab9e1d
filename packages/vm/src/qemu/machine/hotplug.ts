/** Brings a machine from its common initial size to the requested size. */
import { setTimeout as sleep } from 'node:timers/promises';
import { GuestError } from '@lodge/guest';
import type { GuestClient } from '@lodge/guest';
import { VmError } from '@lodge/ports';
import type { Machine } from '@lodge/ports';
import { architecture } from './architecture.ts';
import { bootMemoryMib, bootVcpus, maxMemoryMib, maxVcpus } from './command-line.ts';
import type { Qmp } from './qmp.ts';
import { throwIfAborted, until } from '../../waiting.ts';

interface HotpluggableCpu {
  readonly type: string;
  readonly props: Readonly<Record<string, number>>;
  /** Set when the vCPU is plugged in. */
  readonly 'qom-path'?: string;
}

const conflict = 409;
const memoryDevice = '/machine/peripheral/vmem0';
/** The most memory that the kernel keeps to itself before it counts the rest (its image, its page tables of boot). */
const kernelShareMib = 192;

export function assertMachine(machine: Machine): void {
  const { vcpus, memoryMib } = machine;
  const vcpusFit = Number.isInteger(vcpus) && vcpus >= 1 && vcpus <= maxVcpus;
  const memoryFits = memoryMib % 2 === 0 && memoryMib >= bootMemoryMib && memoryMib <= maxMemoryMib;
  if (!vcpusFit || !memoryFits) {
    throw new VmError(
      'failed',
      `a machine has 1..${maxVcpus} vCPUs and ${bootMemoryMib}..${maxMemoryMib} MiB, not ${vcpus} and ${memoryMib}`,
    );
  }
}

/** The size of a machine's devices: more than its guest uses, if it was made smaller. */
export interface Plugged {
  readonly vcpus: number;
  readonly memoryMib: number;
}

export async function plugged(qmp: Qmp): Promise<Plugged> {
  const cpus = await hotpluggable(qmp);
  const memoryMib = bootMemoryMib + Math.ceil((await pluggedBytes(qmp)) / 2 ** 20);
  return { vcpus: cpus.filter((cpu) => cpu['qom-path']).length, memoryMib };
}

/** Plugs in missing parts, and asks for surplus memory back. The guest may be stopped: it finds everything when it runs. */
export async function plug(qmp: Qmp, machine: Pick<Machine, 'vcpus' | 'memoryMib'>): Promise<void> {
  if (machine.vcpus > bootVcpus) {
    const cpus = await hotpluggable(qmp);
    const free = cpus.filter((cpu) => !cpu['qom-path']).sort((a, b) => a.props['core-id']! - b.props['core-id']!);
    for (const cpu of free.slice(0, Math.max(0, machine.vcpus - (cpus.length - free.length)))) {
      await qmp.execute('device_add', { driver: cpu.type, id: `cpu${cpu.props['core-id']}`, ...cpu.props });
    }
  }
  await requestMemory(qmp, machine.memoryMib);
}

async function requestMemory(qmp: Qmp, memoryMib: number): Promise<void> {
  const value = (memoryMib - bootMemoryMib) * 2 ** 20;
  await qmp.execute('qom-set', { path: memoryDevice, property: 'requested-size', value });
}

/** Without hotpluggable vCPUs all exist from the start, and the guest turns off the surplus ones. */
async function hotpluggable(qmp: Qmp): Promise<HotpluggableCpu[]> {
  if (architecture.pluggedProcessor === null)
    return Array.from({ length: maxVcpus }, () => ({ type: '', props: {}, 'qom-path': '/machine' }));
  return qmp.execute<HotpluggableCpu[]>('query-hotpluggable-cpus');
}

/** The memory that the guest has accepted from the device. */
function pluggedBytes(qmp: Qmp): Promise<number> {
  return qmp.execute<number>('qom-get', { path: memoryDevice, property: 'size' });
}

export interface GrowingMachine {
  readonly qmp: Qmp;
  readonly guest: GuestClient;
  readonly machine: Machine;
  /** vCPUs that its guest runs on, where that is known. */
  readonly cpusOnline: number | null;
}

interface Bound {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Waits until the guest runs on the requested number of vCPUs: surplus ones are taken offline. */
export async function awaitVcpus({ guest, machine, cpusOnline }: GrowingMachine, bound: Bound): Promise<void> {
  if (cpusOnline === machine.vcpus) return;
  const set = (): Promise<true | null> => guest.setCpusOnline(machine.vcpus, bound).then(() => true, notYet);
  await until(set, { what: `${machine.vcpus} vCPUs in the guest`, everyMs: 20, ...bound });
}

/** The guest's kernel has not seen a plugged vCPU yet: on a busy host that takes a while. */
function notYet(error: unknown): null {
  if (error instanceof GuestError && error.status === conflict) return null;
  throw error;
}

/**
 * Waits until the guest's memory is as `plug` requested. Returns the size as it then is: the guest may not give back memory
 * in use.
 */
export async function settleMemory(growing: GrowingMachine, bound: Bound): Promise<number> {
  const wantedBytes = (growing.machine.memoryMib - bootMemoryMib) * 2 ** 20;
  const bytes = await pluggedBytes(growing.qmp);
  if (bytes > wantedBytes) return releaseMemory(growing, bound.signal);
  // The wait is needless if the guest has accepted the memory already, while it was greeted.
  if (bytes < wantedBytes) await awaitMemory(growing, bound);
  return growing.machine.memoryMib;
}

/** Waits until the guest has all its memory. */
async function awaitMemory({ qmp, guest, machine }: GrowingMachine, bound: Bound): Promise<void> {
  const wantedBytes = (machine.memoryMib - bootMemoryMib) * 2 ** 20;
  const taken = async (): Promise<true | null> => ((await pluggedBytes(qmp)) === wantedBytes ? true : null);
  await until(taken, { what: `${machine.memoryMib} MiB taken by the guest`, everyMs: 10, ...bound });
  // The guest's driver accepts the last block a moment before the kernel counts it.
  const counted = async (): Promise<true | null> => {
    const { memoryTotalMib } = await guest.health(bound);
    return memoryTotalMib >= machine.memoryMib - kernelShareMib ? true : null;
  };
  await until(counted, { what: `${machine.memoryMib} MiB in the guest`, everyMs: 20, ...bound });
}

/** Longest wait for memory that a guest gives back, and for the next piece of it, each multiplied by the host's pace. */
const releaseTimeoutMs = 20_000;
const releasePauseMs = 3000;

/**
 * Waits until the guest has given back the memory that `plug` asked for, as far as it can: memory in use stays. Returns the
 * size as it then is, and asks for no more.
 */
async function releaseMemory(
  { qmp, guest, machine }: Pick<GrowingMachine, 'qmp' | 'guest' | 'machine'>,
  signal: AbortSignal,
): Promise<number> {
  const wantedBytes = (machine.memoryMib - bootMemoryMib) * 2 ** 20;
  let bytes = await pluggedBytes(qmp);
  let progressed = performance.now();
  const deadline = progressed + releaseTimeoutMs * guest.pace;
  while (bytes > wantedBytes) {
    await sleep(20);
    throwIfAborted(signal);
    const now = await pluggedBytes(qmp);
    if (now < bytes) progressed = performance.now();
    bytes = now;
    if (performance.now() > Math.min(deadline, progressed + releasePauseMs * guest.pace)) break;
  }
  const memoryMib = bootMemoryMib + bytes / 2 ** 20;
  if (bytes > wantedBytes) await requestMemory(qmp, memoryMib);
  return memoryMib;
}
