/**
 * The memory that paused agents of this host hold, as their VMs' shares of the host's memory say. An agent that was not read
 * since its pause counts with its size, as do those of other hosts.
 */
import { atMost, pausedHoldMib } from '@lodge/domain';
import type { MemoryHolder } from '@lodge/domain';
import type { Log, VmDriver } from '@lodge/ports';
import { pausedAgents } from '@lodge/store/agents';
import type { AgentHolder } from '@lodge/store/agents';
import type { Database } from '@lodge/store/database';
import { Rounds } from '../../periodic.ts';

export interface HeldDeps {
  readonly database: Database;
  readonly driver: Pick<VmDriver, 'usage'>;
  readonly log: Log;
  readonly holder: string;
  readonly lookEveryMs: number;
}

/** A share grows when others that use the same pages end, and shrinks when pages go out to swap. */
const freshMs = 60_000;
/** Longest wait for one reading, which walks the page tables of the VM. */
const readingMs = 2_000;
/** Most readings in one round. Agents that were never read come first. */
const maxReadings = 32;

interface Reading {
  readonly pausedAt: number;
  readonly mib: number;
  readonly at: number;
}

export class HeldMemory extends Rounds {
  private readonly deps: HeldDeps;
  private readonly readings = new Map<string, Reading>();

  constructor(deps: HeldDeps) {
    super({
      everyMs: deps.lookEveryMs,
      log: deps.log,
      failed: 'memory of paused agents not read; it will be repeated',
    });
    this.deps = deps;
  }

  /** Returns what the agent holds since this pause, MiB; null when that was not read. */
  of(id: string, pausedAt: Date | null): number | null {
    const reading = this.readings.get(id);
    return reading !== undefined && reading.pausedAt === pausedAt?.getTime() ? reading.mib : null;
  }

  /** The agents that hold memory, as admission counts them. */
  counted(all: readonly AgentHolder[]): readonly MemoryHolder[] {
    return all
      .filter(({ holdsMemory }) => holdsMemory)
      .map(({ id, size, asleepSince }) => ({ size, pausedMib: this.of(id, asleepSince) }));
  }

  protected async round(signal: AbortSignal): Promise<void> {
    const { database, holder } = this.deps;
    const paused = await database.repeatable((db) => pausedAgents(db, holder));
    const there = new Set(paused.map(({ id }) => id));
    for (const id of this.readings.keys()) if (!there.has(id)) this.readings.delete(id);
    const now = Date.now();
    const ageOf = (agent: { readonly id: string; readonly pausedAt: Date }): number =>
      this.of(agent.id, agent.pausedAt) === null ? Infinity : now - this.readings.get(agent.id)!.at;
    const due = paused.filter((agent) => ageOf(agent) >= freshMs).toSorted((a, b) => ageOf(b) - ageOf(a));
    for (const { id, pausedAt } of due.slice(0, maxReadings)) {
      if (signal.aborted) return;
      await this.read(id, pausedAt);
    }
  }

  private async read(id: string, pausedAt: Date): Promise<void> {
    try {
      const usage = await atMost(readingMs, this.deps.driver.usage(id), tooLong);
      if (!usage || usage.executionId === null || usage.memoryMib <= 0) return;
      const mib = pausedHoldMib(usage.memoryMib);
      this.readings.set(id, { pausedAt: pausedAt.getTime(), mib, at: Date.now() });
    } catch (error) {
      this.deps.log.warn({ err: error, agent_id: id }, 'memory of a paused agent not read; it will be repeated');
    }
  }
}

const tooLong = (): never => {
  throw new Error('reading took too long');
};
