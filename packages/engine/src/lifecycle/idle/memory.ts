/**
 * Makes room in the host's memory by stopping paused agents, least recently active first. A stop keeps all their state, and
 * they come back in about a second. Admissions that would not fit otherwise call it, and a timer when the host runs short.
 */
import { mayBeEvicted } from '@lodge/domain';
import type { DiskKeeper } from '../disk/keeper.ts';
import type { DriverInUse } from '../endings.ts';
import { Rounds } from '../../periodic.ts';
import type { Log } from '@lodge/ports';
import { evictableAgents } from '@lodge/store/agents';
import type { AgentRow } from '@lodge/store/agents';
import { beginOperation } from '../../agents/decisions.ts';
import type { Store } from '@lodge/store';
import type { Database } from '@lodge/store/database';
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
}

const lookEveryMs = 5_000;
/**
 * Longest wait for one stop. A stop's own bounds are longer, and the caller that needs room does not wait for all of them.
 */
const stopWaitMs = 30_000;
const maxAtATime = 4;

export class MemoryRelief extends Rounds {
  private readonly deps: MemoryDeps;

  constructor(deps: MemoryDeps) {
    super({ everyMs: lookEveryMs, log: deps.log, failed: 'memory of the host not looked after; it will be repeated' });
    this.deps = deps;
  }

  /**
   * Stops the paused agents that were active longest ago, until their sizes add up to `memoryMib`. Resolves with false when
   * there is none to stop.
   */
  async makeRoom(memoryMib: number): Promise<boolean> {
    const { database, disk, holder } = this.deps;
    // A stop writes the agent's memory to the disk.
    if (disk.isShort) return false;
    const chosen: AgentRow[] = [];
    let heldMib = 0;
    for (const row of await evictableAgents(database, holder, 64)) {
      if (heldMib >= memoryMib || chosen.length >= 16) break;
      chosen.push(row);
      heldMib += row.machine?.memoryMib ?? 0;
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
      mayBeEvicted({ ...row, isKeptAwake }) ? { do: 'begin', kind: 'stop' } : { do: 'nothing' },
    );
    if (begun?.admission.do !== 'begin') return begun === null || begun.row.status === 'stopped';
    const row = await awaitAgent(this.deps, id, (now) => now?.operation?.kind !== 'stop', stopWaitMs, this.signal);
    return row === null || row.status === 'stopped';
  }
}
