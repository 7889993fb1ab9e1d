/**
 * Makes room in the host's memory by stopping paused agents, least recently active first. A stop keeps all their state, and
 * they come back in about a second. Admissions that would not fit otherwise call it, and a timer when the host runs short.
 */
import { mayBeEvicted, promisedMib, sizeHeld } from '@lodge/domain';
import type { HostMemory, MemoryShortage } from '@lodge/domain';
import type { DiskKeeper } from '../disk/keeper.ts';
import type { DriverInUse } from '../endings.ts';
import { Rounds } from '../../periodic.ts';
import type { Log } from '@lodge/ports';
import { evictableAgents } from '@lodge/store/agents';
import type { AgentRow } from '@lodge/store/agents';
import { beginOperation } from '../../agents/decisions.ts';
import type { Store } from '@lodge/store';
import type { Database } from '@lodge/store/database';
import type { HeldMemory } from './held.ts';
import { awaitAgent } from '../../agents/await-agent.ts';

export interface MemoryDeps {
  readonly database: Database;
  readonly changes: Store['changes'];
  readonly driver: DriverInUse;
  readonly disk: Pick<DiskKeeper, 'isShort'>;
  readonly log: Log;
  readonly holder: string;
  /** Below this available memory on the host, MiB, paused agents are stopped. */
  readonly watermarkMib: number;
  readonly memory: Pick<HostMemory, 'overcommit'>;
  readonly held: Pick<HeldMemory, 'of'>;
}

const lookEveryMs = 5_000;
/**
 * Longest wait for one stop. A stop's own bounds are longer, and the caller that needs room does not wait for all of them.
 */
const stopWaitMs = 30_000;
const maxAtATime = 4;

export class MemoryRelief extends Rounds {
  private readonly deps: MemoryDeps;
  /** Agents for which room is made, and how often: none of them makes it. */
  private readonly spared = new Map<string, number>();

  constructor(deps: MemoryDeps) {
    super({ everyMs: lookEveryMs, log: deps.log, failed: 'memory of the host not looked after; it will be repeated' });
    this.deps = deps;
  }

  /** Runs the work. Nobody stops the agent for its memory meanwhile. */
  async sparing<T>(id: string, work: () => Promise<T>): Promise<T> {
    this.spared.set(id, (this.spared.get(id) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const left = this.spared.get(id)! - 1;
      if (left === 0) this.spared.delete(id);
      else this.spared.set(id, left);
    }
  }

  /**
   * Stops the paused agents that were active longest ago, until what they count and hold makes up for the shortage. Resolves
   * with false when there is none to stop.
   */
  async makeRoom(shortage: MemoryShortage): Promise<boolean> {
    const { database, disk, holder, memory, held } = this.deps;
    // A stop writes the agent's memory to the disk.
    if (disk.isShort) return false;
    const chosen: AgentRow[] = [];
    let [missingMib, missingFreeMib] = [shortage.promisedMib, shortage.freeMib];
    for (const row of await evictableAgents(database, holder, 64)) {
      if ((missingMib <= 0 && missingFreeMib <= 0) || chosen.length >= 16) break;
      if (this.spared.has(row.id)) continue;
      chosen.push(row);
      const pausedMib = held.of(row.id, row.pausedAt);
      missingMib -= promisedMib(memory, { size: sizeHeld(row.size, row.machine?.memoryMib ?? 0), pausedMib });
      missingFreeMib -= pausedMib ?? row.machine?.memoryMib ?? 0;
    }
    const stopped = await Promise.all(chosen.map((row) => this.evict(row)));
    return stopped.some(Boolean);
  }

  protected async round(signal: AbortSignal): Promise<void> {
    const { driver, database, disk, holder, watermarkMib } = this.deps;
    while (!signal.aborted && !disk.isShort && (await driver.hostMemory()).availableMib < watermarkMib) {
      const rows = await evictableAgents(database, holder, maxAtATime);
      const stopped = await Promise.all(rows.map((row) => this.evict(row)));
      if (!stopped.some(Boolean)) return;
    }
  }

  /** Stops the agent. Returns whether it holds no memory any more. */
  private async evict({ id }: AgentRow): Promise<boolean> {
    const { database } = this.deps;
    const begun = await beginOperation(database, id, 'memory', ({ row, isKeptAwake }) =>
      mayBeEvicted({ ...row, isKeptAwake }) && !this.spared.has(id) ? { do: 'begin', kind: 'stop' } : { do: 'nothing' },
    );
    if (begun === null) return true;
    // Somebody else may stop it already.
    if (begun.admission.do !== 'begin' && begun.row.operation?.kind !== 'stop') return begun.row.status === 'stopped';
    const row = await awaitAgent(this.deps, id, (now) => now?.operation?.kind !== 'stop', stopWaitMs, this.signal);
    return row === null || row.status === 'stopped';
  }
}
