/**
 * Reads the counters of VMs into the store: now and then, and before whatever ends an execution. They only rise within one,
 * so what a crash loses is what came since the last reading, and a reading that is made twice adds nothing.
 */
import { Periodic } from '../periodic.ts';
import type { Log, UsageStore, VmDriver } from '../ports/index.ts';

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

  /** The same driver, whose VMs are read before they end. */
  get driver(): VmDriver {
    const { driver } = this.deps;
    const metered: Pick<VmDriver, 'suspend' | 'setAside' | 'takeBack' | 'remove'> = {
      suspend: async (agentId, ...rest) => {
        await this.readLast(agentId);
        return driver.suspend(agentId, ...rest);
      },
      setAside: async (agentId, ...rest) => {
        await this.readLast(agentId);
        return driver.setAside(agentId, ...rest);
      },
      takeBack: async (agentId) => {
        await this.readLast(agentId);
        return driver.takeBack(agentId);
      },
      remove: async (agentId, options) => {
        await this.readLast(agentId);
        return driver.remove(agentId, options);
      },
    };
    return new Proxy(driver, {
      get(_, name) {
        if (Object.hasOwn(metered, name)) return metered[name as keyof typeof metered];
        const value: unknown = Reflect.get(driver, name, driver);
        return typeof value === 'function' ? value.bind(driver) : value;
      },
    });
  }

  private async readAll(signal: AbortSignal): Promise<void> {
    for (const { agentId, state } of await this.deps.driver.list()) {
      if (signal.aborted) return;
      if (state === 'running' || state === 'paused') await this.read(agentId);
    }
  }

  private async readLast(agentId: string): Promise<void> {
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
