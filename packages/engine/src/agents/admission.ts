/** The admission of new agents: the quotas of their account, and the room on the host. */
import { Refusal } from '@lodge/domain';
import type { HostDisk, HostMemory, SizeName } from '@lodge/domain';
import type { Committed } from '@lodge/store/agents';
import { checkDiskForCreate, checkRoom, hostMemory } from './capacity.ts';
import type { AgentsDeps } from './deps.ts';

type Quotas = Pick<AgentsDeps, 'maxAgentsPerAccount' | 'maxRunningPerAccount'>;

type AdmissionDeps = Quotas & Pick<AgentsDeps, 'disk' | 'held'>;

/** The free amount of each resource on the host. */
export interface Room {
  readonly memory: HostMemory;
  readonly disk: HostDisk;
}

export async function hostRoom(deps: Pick<AgentsDeps, 'driver' | 'memory' | 'disk'>): Promise<Room> {
  const [memory, disk] = await Promise.all([hostMemory(deps), deps.disk.host()]);
  return { memory, disk };
}

/** Refuses to run one agent too many. `others` is the number of agents that run beside it. */
export function checkRunning({ maxRunningPerAccount: most = Infinity }: Quotas, others: number): void {
  if (others < most) return;
  throw new Refusal('quota_exceeded', `This account has ${others} running agents; its quota is ${most}.`);
}

/** Admits `count` new agents of one size side by side, or refuses all of them. */
export function admitNew(
  committed: Committed,
  { memory, disk }: Room,
  { size, count }: { readonly size: SizeName; readonly count: number },
  deps: AdmissionDeps,
): void {
  checkQuotas(deps, committed, count);
  checkDiskForCreate(disk, deps.disk.holders(committed.holders), size, count);
  checkRoom(deps, memory, committed.holders, size, count);
}

function checkQuotas(deps: Quotas, { accountAgents, accountRunning }: Committed, count: number): void {
  const { maxAgentsPerAccount: mostAgents, maxRunningPerAccount: mostRunning = Infinity } = deps;
  if (accountAgents + count > mostAgents) {
    const room = count === 1 ? '' : `, and ${count} more are too many`;
    throw new Refusal('quota_exceeded', `This account has ${accountAgents} agents; its quota is ${mostAgents}${room}.`);
  }
  if (count === 1) checkRunning(deps, accountRunning);
  else if (accountRunning + count > mostRunning) {
    const message = `This account has ${accountRunning} running agents; its quota is ${mostRunning}, and ${count} more are too many.`;
    throw new Refusal('quota_exceeded', message);
  }
}
