import type { AgentStatus } from './agent.ts';
import type { Verb } from './operation.ts';
import { sizeNames, sizes } from './sizes.ts';
import type { SizeName } from './sizes.ts';

/** An agent holds memory in these statuses, and in any other while one of these operations is under way. */
export const statusesWithMemory: readonly AgentStatus[] = ['provisioning', 'running', 'paused'];
export const operationsToMemory: readonly Verb[] = ['start', 'resume', 'restart'];

/** The larger of what was asked for and what the machine has: one that was made smaller may not have given memory back yet. */
export function sizeHeld(asked: SizeName, machineMib: number): SizeName {
  const heldMib = Math.max(sizes[asked].memoryMib, machineMib);
  return sizeNames.find((name) => sizes[name].memoryMib >= heldMib) ?? sizeNames.at(-1)!;
}

/** Memory of the host and the operator's settings for it, all in MiB. */
export interface HostMemory {
  readonly totalMib: number;
  readonly availableMib: number;
  /** Kept for the host itself, the control plane and the database. */
  readonly reservedMib: number;
  /** How many MiB may be promised to agents for each MiB there is. Clones share their template's pages, so more than 1 is usual. */
  readonly overcommit: number;
}

/** Memory that a clone really takes up soon after it starts, in MiB: its own pages and the emulator's (docs/guides/operating.md gives the figures). */
export const cloneFootprintMib = 1024;

/**
 * Whether one more agent of `request` fits beside the `committed` ones. Two bounds: what is promised must stay within
 * the host's memory times the overcommit, and what is free now must hold a clone's first footprint.
 */
export function fits(host: HostMemory, committed: readonly SizeName[], request: SizeName): boolean {
  const promised = committed.reduce((sum, size) => sum + sizes[size].memoryMib, 0) + sizes[request].memoryMib;
  const promisable = Math.max(0, host.totalMib - host.reservedMib) * host.overcommit;
  return promised <= promisable && host.availableMib - host.reservedMib / 2 >= cloneFootprintMib;
}

/** The operator's settings for disk, MiB. */
export interface DiskSettings {
  /** Kept for the database and logs: agents are never promised it. */
  readonly reservedMib: number;
  /** Below so much free space the agents that write most are paused. */
  readonly floorMib: number;
  /** How many MiB agents may still write for each MiB that is free. Few ever fill their disks, so more than 1 is usual. */
  readonly overcommit: number;
}

/** docs/adr/0033-disk-is-capacity.md gives the figures behind these. */
export const defaultDisk: DiskSettings = { reservedMib: 2048, floorMib: 2048, overcommit: 10 };

/** The file system that holds the agents' disks. */
export interface HostDisk extends DiskSettings {
  readonly freeMib: number;
}

/** What an agent has written so far, and what it may write in all. */
export interface DiskHolder {
  /** Of what was asked for and what its machine has, the larger. */
  readonly size: SizeName;
  readonly diskMib: number;
  readonly snapshotMib: number;
}

/**
 * Free space by what it allows, each level without what the one before it does:
 * - `ample`: everything;
 * - `low`: no create and no start; whatever runs goes on;
 * - `short`: whoever writes most is paused;
 * - `critical`: whoever writes at all is paused, and nobody is resumed.
 */
export type DiskLevel = 'ample' | 'low' | 'short' | 'critical';

export function diskLevel({ freeMib, floorMib }: Pick<HostDisk, 'freeMib' | 'floorMib'>): DiskLevel {
  if (freeMib < floorMib / 2) return 'critical';
  if (freeMib < floorMib) return 'short';
  // Above the floor by a part of it, or agents that were paused would be let go on and paused again at once.
  return freeMib < floorMib * 1.25 ? 'low' : 'ample';
}

/** What an agent may yet add to what is on the disk: the rest of its own disk, and one snapshot of its memory. */
export function mayWriteMib({ size, diskMib, snapshotMib }: DiskHolder): number {
  const { diskGib, memoryMib } = sizes[size];
  return Math.max(0, diskGib * 1024 - diskMib) + Math.max(0, memoryMib - snapshotMib);
}

/** Whether what `all` may write fits, by the operator's overcommit, into what is free beside reserve and floor. */
export function fitsDisk(host: HostDisk, all: readonly DiskHolder[]): boolean {
  if (diskLevel(host) !== 'ample') return false;
  const wanted = all.reduce((sum, holder) => sum + mayWriteMib(holder), 0);
  return wanted <= Math.max(0, host.freeMib - host.reservedMib - host.floorMib) * host.overcommit;
}

/** What an agent has written since it was looked at before. */
export interface DiskGrowth {
  readonly id: string;
  readonly grownMib: number;
}

/** What was written between two looks may go on for so many times as long before the host is critically short. */
const patience = 60;

/**
 * Agents to pause, those that wrote most first: as few as leave the others, writing on as they did, far from using up the
 * lower half of the floor. The less of that is left, the less anyone may write.
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

/** Guests together write less than this in a millisecond, through the page cache of a fast host, MiB. */
const fastestMibPerMs = 4;
const soonestLookMs = 200;
const latestLookMs = 2_000;

/** How long until free space has to be looked at again: not longer than it takes to write down to the floor. */
export function nextDiskLookMs({ freeMib, floorMib }: Pick<HostDisk, 'freeMib' | 'floorMib'>): number {
  const reachMs = (freeMib - floorMib) / fastestMibPerMs;
  return Math.round(Math.min(latestLookMs, Math.max(soonestLookMs, reachMs)));
}
