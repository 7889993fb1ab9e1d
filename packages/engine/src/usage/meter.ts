/**
 * Reads the counters of VMs into the store: now and then, and before every end of an execution. Counters only rise within an
 * execution. So a crash loses only the growth since the last reading, and a repeated reading adds nothing.
 */
import { atMost } from '@lodge/domain';
import { Rounds } from '../periodic.ts';
import type { Log, VmDriver, VmObservation, VmReading, VmUsage } from '@lodge/ports';

export interface MeterDeps {
  readonly driver: VmDriver;
  readonly record: (reading: VmReading) => Promise<void>;
  readonly log: Log;
  /** How often all VMs are read; a minute by default. */
  readonly everyMs?: number;
}

const minuteMs = 60_000;
/** Longest wait for one reading, both for a machine that ends and for the figures of others. */
const readingMs = 2_000;
const hasCounters: ReadonlySet<VmObservation['state']> = new Set(['running', 'paused', 'unresponsive']);

export class Meter extends Rounds {
  private readonly deps: MeterDeps;

  constructor(deps: MeterDeps) {
    super({
      everyMs: deps.everyMs ?? minuteMs,
      log: deps.log,
      failed: 'counters of VMs not read; it will be repeated',
    });
    this.deps = deps;
  }

  protected async round(signal: AbortSignal): Promise<void> {
    for (const { agentId, state } of await this.deps.driver.list()) {
      if (signal.aborted) return;
      // The counters are the host's own: they rise even if the emulator does not answer.
      if (!hasCounters.has(state)) continue;
      const found = await atMost(readingMs, this.deps.driver.usage(agentId), tooLong).catch((error: unknown) => {
        this.deps.log.warn({ err: error, agent_id: agentId }, 'counters of a VM not read; it will be repeated');
        return null;
      });
      await this.record(agentId, found);
    }
  }

  /** Reads the counters before a VM ends. Bounded; never rejects: a machine ends even if its figures cannot be read. */
  async readLast(agentId: string): Promise<void> {
    try {
      const work = this.deps.driver.usage(agentId).then((found) => this.record(agentId, found));
      await atMost(readingMs, work, tooLong);
    } catch (error) {
      this.deps.log.warn({ err: error, agent_id: agentId }, 'last counters of a VM not read');
    }
  }

  private async record(agentId: string, found: VmUsage | null): Promise<void> {
    if (!found || found.executionId === null) return;
    const { executionId, cpuSeconds, egressBytes } = found;
    await this.deps.record({ agentId, executionId, cpuSeconds, egressBytes });
  }
}

const tooLong = (): never => {
  throw new Error('reading took too long');
};
