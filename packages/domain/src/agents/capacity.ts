import type { AgentStatus } from './agent.ts';
import type { OperationKind } from './operation.ts';

/** Machine sizes (service specification, section 2.3). `diskGib` is the size of the guest's root disk. */
export const sizes = {
  small: { vcpus: 1, memoryMib: 2048, diskGib: 10 },
  medium: { vcpus: 2, memoryMib: 4096, diskGib: 10 },
  large: { vcpus: 2, memoryMib: 8192, diskGib: 10 },
  xlarge: { vcpus: 4, memoryMib: 16384, diskGib: 10 },
} as const;

export type SizeName = keyof typeof sizes;
export const sizeNames = Object.keys(sizes) as readonly SizeName[];
export const defaultSize: SizeName = 'medium';

/** An agent holds memory in these statuses, and in any other status while one of these operations is in progress. */
export const statusesWithMemory: readonly AgentStatus[] = ['provisioning', 'running', 'paused'];
export const operationsToMemory: readonly OperationKind[] = ['start', 'resume', 'restart', 'restore'];

/** A paused agent sleeps during these operations too, but for a moment in which its guest ends its work. */
export const operationsAsleep: readonly OperationKind[] = ['pause', 'stop', 'snapshot'];

/**
 * Returns the larger of the requested size and the machine's size. A machine that was made smaller may not have returned its
 * memory yet.
 */
export function sizeHeld(asked: SizeName, machineMib: number): SizeName {
  const heldMib = Math.max(sizes[asked].memoryMib, machineMib);
  return sizeNames.find((name) => sizes[name].memoryMib >= heldMib) ?? sizeNames.at(-1)!;
}

/** Memory of the host and the operator's settings for it, all in MiB. */
export interface HostMemory {
  readonly totalMib: number;
  readonly availableMib: number;
  /** Memory kept for the host itself, the control plane and the database. */
  readonly reservedMib: number;
  /**
   * MiB that may be promised to agents for each MiB there is. Clones share their template's pages, so more than 1 is usual.
   */
  readonly overcommit: number;
}

/**
 * Memory in MiB that a clone really uses soon after it starts: its own pages and the emulator's (docs/guides/operating.md
 * gives the figures).
 */
export const cloneFootprintMib = 1024;

/** An agent that holds memory, as admission counts it. */
export interface MemoryHolder {
  /** The larger of the requested size and the machine's size. */
  readonly size: SizeName;
  /** The memory that it holds while it sleeps (`pausedHoldMib`); null: it runs, or that is not known. */
  readonly pausedMib: number | null;
}

/** Readings of a sleeping VM's share of memory are counted in steps of this many MiB. */
const pausedStepMib = 16;
/** Memory of the host's kernel for a sleeping VM, which no reading has: page tables, sockets, its control group, MiB. */
const pausedReserveMib = 16;

/** Returns the memory that a paused agent counts with, by its VM's share of the host's memory, MiB. */
export function pausedHoldMib(shareMib: number): number {
  return Math.ceil(shareMib / pausedStepMib) * pausedStepMib + pausedReserveMib;
}

/**
 * Returns the promise that an agent takes up, in MiB. A paused agent uses no memory but what it holds, and holds all of that:
 * overcommit, which counts on promises that are not used, does not stretch it.
 */
export function promisedMib({ overcommit }: Pick<HostMemory, 'overcommit'>, { size, pausedMib }: MemoryHolder): number {
  const { memoryMib } = sizes[size];
  return pausedMib === null ? memoryMib : Math.min(memoryMib, pausedMib * overcommit);
}

/** Memory that is missing for an agent, MiB. */
export interface MemoryShortage {
  /** The part that the promises lack. */
  readonly promisedMib: number;
  /** The part that free memory lacks. */
  readonly freeMib: number;
}

/**
 * Returns the memory that one more agent of size `request` lacks beside the `committed` ones; null: it fits. Promised memory
 * must stay within the host's memory times the overcommit. Free memory must hold a clone's first footprint.
 */
export function memoryShortage(
  host: HostMemory,
  committed: readonly MemoryHolder[],
  request: SizeName,
): MemoryShortage | null {
  const promised = committed.reduce<number>((sum, holder) => sum + promisedMib(host, holder), sizes[request].memoryMib);
  const promisable = Math.max(0, host.totalMib - host.reservedMib) * host.overcommit;
  const shortage = {
    promisedMib: Math.max(0, promised - promisable),
    freeMib: Math.max(0, cloneFootprintMib - (host.availableMib - host.reservedMib / 2)),
  };
  return shortage.promisedMib > 0 || shortage.freeMib > 0 ? shortage : null;
}

/** The operator's settings for disk, MiB. */
export interface DiskSettings {
  /** Disk kept for the database and logs, never promised to agents. */
  readonly reservedMib: number;
  /** Free space below which the agents that write most are paused. */
  readonly floorMib: number;
  /** MiB that agents may still write for each free MiB. Few agents ever fill their disks, so more than 1 is usual. */
  readonly overcommit: number;
}

/** docs/adr/0033-disk-is-capacity.md gives the figures behind these. */
export const defaultDisk: DiskSettings = { reservedMib: 2048, floorMib: 2048, overcommit: 10 };

/** The file system of the agents' disks. */
export interface HostDisk extends DiskSettings {
  readonly freeMib: number;
}

/** The data that an agent has written so far, and the size that bounds it. */
export interface DiskHolder {
  /** The larger of the requested size and the machine's size. */
  readonly size: SizeName;
  readonly diskMib: number;
  readonly snapshotMib: number;
}

/**
 * Free space by the actions that it allows. Each level allows less than the one before:
 * - `ample`: everything;
 * - `low`: no create and no start; running agents go on;
 * - `short`: the agents that write most are paused;
 * - `critical`: every agent that writes is paused, and nobody is resumed.
 */
export type DiskLevel = 'ample' | 'low' | 'short' | 'critical';

export function diskLevel({ freeMib, floorMib }: Pick<HostDisk, 'freeMib' | 'floorMib'>): DiskLevel {
  if (freeMib < floorMib / 2) return 'critical';
  if (freeMib < floorMib) return 'short';
  // The margin above the floor keeps paused agents from being resumed and paused again at once.
  return freeMib < floorMib * 1.25 ? 'low' : 'ample';
}

/** Returns the MiB that an agent may still add to the disk: the rest of its own disk, and one snapshot of its memory. */
export function mayWriteMib({ size, diskMib, snapshotMib }: DiskHolder): number {
  const { diskGib, memoryMib } = sizes[size];
  return Math.max(0, diskGib * 1024 - diskMib) + Math.max(0, memoryMib - snapshotMib);
}

/**
 * Whether the data that `all` may write fits, by the operator's overcommit, into the free space beside reserve and floor.
 */
export function fitsDisk(host: HostDisk, all: readonly DiskHolder[]): boolean {
  if (diskLevel(host) !== 'ample') return false;
  const wanted = all.reduce((sum, holder) => sum + mayWriteMib(holder), 0);
  return wanted <= Math.max(0, host.freeMib - host.reservedMib - host.floorMib) * host.overcommit;
}

/** The MiB that an agent has written since the last look. */
export interface DiskGrowth {
  readonly id: string;
  readonly grownMib: number;
}

/** An amount written between two looks may repeat this many times before the host is critically short. */
const patience = 60;

/**
 * Returns the agents to pause, those that wrote most first. It pauses as few as possible, so that the others, writing on as
 * before, stay far from using up the lower half of the floor. The less of that is left, the less anyone may write.
 */
export function writersToPause(host: Pick<HostDisk, 'freeMib' | 'floorMib'>, growths: readonly DiskGrowth[]): string[] {
  const { freeMib, floorMib } = host;
  if (freeMib >= floorMib) return [];
  const allowedMib = Math.max(0, freeMib - floorMib / 2) / patience;
  const writers = growths.filter(({ grownMib }) => grownMib > 0).toSorted((a, b) => b.grownMib - a.grownMib);
  let othersMib = writers.reduce((sum, { grownMib }) => sum + grownMib, 0);
  const chosen: string[] = [];
  for (const { id, grownMib } of writers) {
    if (othersMib <= allowedMib) break;
    chosen.push(id);
    othersMib -= grownMib;
  }
  return chosen;
}

/** All guests together write less than this in a millisecond, through the page cache of a fast host, MiB. */
const fastestMibPerMs = 4;
const soonestLookMs = 200;
const latestLookMs = 2_000;

/** Returns the time until the next look at free space, at most the time that it takes to write down to the floor. */
export function nextDiskLookMs({ freeMib, floorMib }: Pick<HostDisk, 'freeMib' | 'floorMib'>): number {
  const reachMs = (freeMib - floorMib) / fastestMibPerMs;
  return Math.round(Math.min(latestLookMs, Math.max(soonestLookMs, reachMs)));
}
