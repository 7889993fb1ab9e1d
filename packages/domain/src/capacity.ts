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
