import { Refusal, diskLevel, fits, fitsDisk, operationsToMemory, sizes, statusesWithMemory } from '@lodge/domain';
import type { DiskHolder, HostDisk, HostMemory, SizeName, Verb } from '@lodge/domain';
import type { AgentRow } from '@lodge/store/agents';
import { holders, sizesHeld } from '@lodge/store/agents';
import type { AgentsDeps } from './deps.ts';

type CapacityDeps = Pick<AgentsDeps, 'database' | 'driver' | 'memory' | 'relief'>;
type DiskDeps = Pick<AgentsDeps, 'database' | 'disk'>;

/** The host's memory as admissions count it. */
export async function hostMemory({ driver, memory }: Pick<CapacityDeps, 'driver' | 'memory'>): Promise<HostMemory> {
  return { ...(await driver.hostMemory()), ...memory };
}

/** Refuses for lack of memory, which stopping other agents can free. */
class NoMemory extends Refusal {}

/**
 * Runs an admission. If it refuses for lack of memory, stops paused agents to make room for `count` agents of `size` and runs
 * it once more.
 */
export async function withRoom<T>(
  { relief }: Pick<CapacityDeps, 'relief'>,
  size: SizeName,
  admission: () => Promise<T>,
  count = 1,
): Promise<T> {
  try {
    return await admission();
  } catch (error) {
    if (!(error instanceof NoMemory) || !(await relief.makeRoom(count * sizes[size].memoryMib))) throw error;
    return admission();
  }
}

/**
 * Refuses when an agent that holds no memory now would not fit in `size`, or one that holds some would not fit after
 * growing. Creates are counted under a lock. This sum is of one moment, and the driver has the last word.
 */
export async function checkRoom(deps: CapacityDeps, agent: AgentRow, size: SizeName): Promise<void> {
  const host = await hostMemory(deps);
  const committed = await deps.database.repeatable((db) => sizesHeld(db, agent.id));
  // The agent needs no further room for the memory that it has.
  const available = holdsMemory(agent) ? { ...host, availableMib: host.totalMib } : host;
  if (!fits(available, committed, size)) throw noRoom(size);
}

export function noRoom(size: SizeName, count = 1): Refusal {
  const what = count === 1 ? `a ${size} agent` : `${count} ${size} agents`;
  return new NoMemory('insufficient_capacity', `There is no room for ${what} on this deployment now.`);
}

/**
 * Refuses creates of `size` that do not fit beside the existing agents, for a stopped agent may be started and write again.
 */
export function checkDiskForCreate(host: HostDisk, there: readonly DiskHolder[], size: SizeName, count = 1): void {
  const created = Array.from({ length: count }, () => ({ size, diskMib: 0, snapshotMib: 0 }));
  if (fitsDisk(host, [...there, ...created])) return;
  const what = count === 1 ? `a ${size} agent` : `${count} ${size} agents`;
  throw new Refusal('insufficient_capacity', `There is no disk space for ${what} on this deployment now.`);
}

/** Refuses to start an agent whose writing would not fit beside that of the agents that hold memory already. */
export async function checkDiskForStart({ database, disk }: DiskDeps, agent: AgentRow): Promise<void> {
  const writers = (await database.repeatable(holders)).filter(({ id, holdsMemory: holds }) => holds || id === agent.id);
  if (!fitsDisk(await disk.host(), disk.holders(writers))) throw noDisk(agent);
}

/** Refuses what the host's free space does not allow now, whatever was promised. The reconcile loop has the last word. */
export function checkDisk(host: HostDisk, verb: Verb, agent: AgentRow): void {
  if (!isAllowed(diskLevel(host), verb, agent)) throw noDisk(agent);
}

function isAllowed(level: ReturnType<typeof diskLevel>, verb: Verb, { status, statusReason }: AgentRow): boolean {
  const wrote = status === 'paused' && statusReason?.code === 'host_disk_full';
  switch (verb) {
    case 'pause':
      return true;
    case 'stop':
      // A stop lets a paused guest end its work and writes its memory to the disk.
      return status === 'error' || (wrote ? level === 'ample' : level === 'ample' || level === 'low');
    case 'start':
    case 'resume':
    case 'restart':
      if (status === 'running') return true;
      // Idle agents go on sleeping and waking beside those that filled the disk.
      return status === 'paused' && !wrote ? level !== 'critical' : level === 'ample';
    case 'upgrade':
      return level === 'ample';
  }
}

function noDisk({ id, status, statusReason }: AgentRow): Refusal {
  const isPaused = status === 'paused' && statusReason?.code === 'host_disk_full';
  const message = isPaused
    ? 'The agent is paused because the host is short of disk space. It can go on once there is room.'
    : 'The host of this deployment is short of disk space. Try again later.';
  return new Refusal('insufficient_capacity', message, { agentId: id });
}

function holdsMemory({ status, operation }: AgentRow): boolean {
  return statusesWithMemory.includes(status) || (operation !== null && operationsToMemory.includes(operation.kind));
}
