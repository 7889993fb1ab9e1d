import { Refusal, fits, operationsToMemory, sizes, statusesWithMemory } from '@lodge/domain';
import type { HostMemory, SizeName } from '@lodge/domain';
import type { AgentRow } from '@lodge/ports';
import type { AgentsDeps } from './deps.ts';

type CapacityDeps = Pick<AgentsDeps, 'store' | 'driver' | 'memory' | 'relief'>;

/** The host's memory as admissions weigh it. */
export async function hostMemory({ driver, memory }: Pick<CapacityDeps, 'driver' | 'memory'>): Promise<HostMemory> {
  return { ...(await driver.hostMemory()), ...memory };
}

/**
 * Runs an admission; where it refuses for want of memory, paused agents are stopped to make room for `size` and it is run
 * once more.
 */
export async function withRoom<T>({ relief }: CapacityDeps, size: SizeName, admission: () => Promise<T>): Promise<T> {
  try {
    return await admission();
  } catch (error) {
    const noRoom = error instanceof Refusal && error.code === 'insufficient_capacity';
    if (!noRoom || !(await relief.makeRoom(sizes[size].memoryMib))) throw error;
    return admission();
  }
}

/**
 * Refuses when an agent that holds no memory now would not fit in `size`, or one that does would not after growing to it.
 * Creates are weighed under a lock; here the sum is of a moment, and the driver has the last word.
 */
export async function checkRoom(deps: CapacityDeps, agent: AgentRow, size: SizeName): Promise<void> {
  const host = await hostMemory(deps);
  const committed = await deps.store.sizesHeld(agent.id);
  // What it has now it need not find again.
  const available = holdsMemory(agent) ? { ...host, availableMib: host.totalMib } : host;
  if (!fits(available, committed, size)) throw noRoom(size);
}

export function noRoom(size: SizeName): Refusal {
  return new Refusal('insufficient_capacity', `There is no room for a ${size} agent on this deployment now.`);
}

function holdsMemory({ status, operation }: AgentRow): boolean {
  return statusesWithMemory.includes(status) || (operation !== null && operationsToMemory.includes(operation.kind));
}
