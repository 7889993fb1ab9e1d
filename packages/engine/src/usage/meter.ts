/**
 * Reads the counters of VMs into the store: now and then, and before whatever ends an execution. They only rise within one,
 * so what a crash loses is what came since the last reading, and a reading that is made twice adds nothing.
 */
import { Periodic } from '../periodic.ts';
import type { Log, UsageStore, VmDriver } from '@lodge/ports';

export interface MeterDeps {
  readonly driver: VmDriver;
  readonly usage: Pick<UsageStore, 'record'>;
  readonly log: Log;
  /** How often all VMs are read; a minute by default. */
  readonly everyMs?: number;
}

const minuteMs = 60_000;
/** An agent's machine does not wait longer for its figures. */
const lastReadingMs = 2_000;

export class Meter {
  private readonly deps: MeterDeps;
  private readonly rounds: Periodic;

  constructor(deps: MeterDeps) {
    this.deps = deps;
    this.rounds = new Periodic({
      everyMs: deps.everyMs ?? minuteMs,
      log: deps.log,
      failed: 'counters of VMs not read; it will be repeated',
      round: (signal) => this.readAll(signal),
    });
  }

  start(): void {
    this.rounds.start();
  }

  stop(): Promise<void> {
    return this.rounds.stop();
  }

  private async readAll(signal: AbortSignal): Promise<void> {
    for (const { agentId, state } of await this.deps.driver.list()) {
      if (signal.aborted) return;
      if (state === 'running' || state === 'paused') await this.read(agentId);
    }
  }

  /** Before a VM ends. Bounded; never rejects: a machine ends also where its figures cannot be read. */
  async readLast(agentId: string): Promise<void> {
    const tooLong = Promise.withResolvers<never>();
    const timer = setTimeout(() => tooLong.reject(new Error('reading took too long')), lastReadingMs);
    try {
      await Promise.race([this.read(agentId), tooLong.promise]);
    } catch (error) {
      this.deps.log.warn({ err: error, agent_id: agentId }, 'last counters of a VM not read');
    } finally {
      clearTimeout(timer);
    }
  }

  private async read(agentId: string): Promise<void> {
    const found = await this.deps.driver.usage(agentId);
    if (!found || found.executionId === null) return;
    const { executionId, cpuSeconds, egressBytes } = found;
    await this.deps.usage.record({ agentId, executionId, cpuSeconds, egressBytes });
  }
}
