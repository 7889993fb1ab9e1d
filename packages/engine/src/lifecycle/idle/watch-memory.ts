import type { HostMemory } from '@lodge/domain';
import { HeldMemory } from './held.ts';
import type { HeldDeps } from './held.ts';
import { MemoryRelief } from './memory.ts';
import type { MemoryDeps } from './memory.ts';

interface WatchDeps extends HeldDeps, Omit<MemoryDeps, 'driver' | 'held' | 'memory' | 'watermarkMib'> {
  readonly driver: HeldDeps['driver'] & MemoryDeps['driver'];
  readonly memory: Pick<HostMemory, 'reservedMib' | 'overcommit'>;
  /** Equals the memory that is reserved for the host if not given. */
  readonly memoryWatermarkMib?: number;
}

/** Looks after the host's memory: what paused agents hold of it, and room for others. */
export function watchMemory(deps: WatchDeps): { readonly held: HeldMemory; readonly relief: MemoryRelief } {
  const { memory, memoryWatermarkMib: watermarkMib = memory.reservedMib } = deps;
  const held = new HeldMemory(deps);
  return { held, relief: new MemoryRelief({ ...deps, memory, watermarkMib, held }) };
}
