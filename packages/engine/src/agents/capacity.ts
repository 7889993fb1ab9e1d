import { Refusal, cloneFootprintMib, diskLevel, fitsDisk, memoryShortage, sizeHeld } from '@lodge/domain';
import type { DiskHolder, HostDisk, HostMemory, MemoryShortage, SizeName, Verb } from '@lodge/domain';
import type { AgentHolder, AgentRow } from '@lodge/store/agents';
import { holders } from '@lodge/store/agents';
import type { AdmitMemory } from './decisions.ts';
import type { AgentsDeps } from './deps.ts';

type CapacityDeps = Pick<AgentsDeps, 'database' | 'driver' | 'memory' | 'held'>;
type DiskDeps = Pick<AgentsDeps, 'database' | 'disk'>;

/** The host's memory as admissions count it. */
export async function hostMemory({ driver, memory }: Pick<CapacityDeps, 'driver' | 'memory'>): Promise<HostMemory> {
  return { ...(await driver.hostMemory()), ...memory };
}

/** Refuses for lack of memory, which stopping other agents can free. */
class NoMemory extends Refusal {
  readonly shortage: MemoryShortage;
  constructor(size: SizeName, count: number, shortage: MemoryShortage) {
    const what = count === 1 ? `a ${size} agent` : `${count} ${size} agents`;
    super('insufficient_capacity', `There is no room for ${what} on this deployment now.`);
    this.shortage = shortage;
  }
}

/** Others may take the room that was made, and the memory that a stop frees was read a while ago. */
const triesForRoom = 4;

/** Runs an admission. When it refuses for lack of memory, stops paused agents to make that room and runs it again. */
export async function withRoom<T>({ relief }: Pick<AgentsDeps, 'relief'>, admission: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await admission();
    } catch (error) {
      if (!(error instanceof NoMemory) || tries === triesForRoom) throw error;
      if (!(await relief.makeRoom(error.shortage))) throw error;
    }
  }
}

/**
 * Refuses `count` agents of `size` that do not fit beside the others. A sum of one moment: whoever admits by it holds creates
 * back. The driver has the last word.
 */
export function checkRoom(
  { held }: Pick<AgentsDeps, 'held'>,
  host: HostMemory,
  others: readonly AgentHolder[],
  size: SizeName,
  count = 1,
): void {
  // The last one finds the others beside it.
  const siblings = Array.from({ length: count - 1 }, () => ({ size, pausedMib: null }));
  const left = { ...host, availableMib: host.availableMib - siblings.length * cloneFootprintMib };
  const shortage = memoryShortage(left, [...held.counted(others), ...siblings], size);
  if (shortage !== null) throw new NoMemory(size, count, shortage);
}

/** The admission of an agent that starts or wakes. */
export async function admitMemory(deps: CapacityDeps): Promise<AdmitMemory> {
  const host = await hostMemory(deps);
  return ({ size, machine }, others) => checkRoom(deps, host, others, sizeHeld(size, machine?.memoryMib ?? 0));
}

/** Refuses when a running agent would not fit after growing to `size`. It needs no further room for the memory that it has. */
export async function checkGrowth(deps: CapacityDeps, { id }: AgentRow, size: SizeName): Promise<void> {
  const host = await hostMemory(deps);
  const others = (await deps.database.repeatable(holders)).filter((holder) => holder.id !== id);
  checkRoom(deps, { ...host, availableMib: host.totalMib }, others, size);
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
