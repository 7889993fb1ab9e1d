/**
 * Lowers the weight of VMs that have been busy for long, so that a VM that wakes comes before them. Each has an account of
 * its used processor time, which halves every minute: little use costs nothing, and an idle VM gets its full weight back.
 * The account belongs to the agent, so it goes on through stops, starts and deaths. Weights bind nobody on a host with spare
 * processors. The accounts may be lost: a new process begins with full weights.
 */
import type { Log } from '@lodge/ports';
import type { Cgroups } from '../host/cgroup.ts';
import { cpuSeconds } from '../host/process.ts';
import type { ExitWatch, Watched } from '../machine/watch.ts';

const everyMs = 5_000;
const halfLifeSeconds = 60;
/** Processor time within the last minutes that costs no weight: about one turn of an agent. */
const freeSeconds = 5;
export const leastWeight = 0.1;

/** The weight of a VM with this account, from 0.1 to 1, in steps of a tenth. */
export function weightOf(account: number): number {
  const weight = Math.min(1, freeSeconds / Math.max(account, freeSeconds));
  return Math.max(leastWeight, Math.round(weight * 10) / 10);
}

/** The account after `seconds` in which its VM used `used` of processor time. */
export function accountAfter(account: number, used: number, seconds: number): number {
  return account * 0.5 ** (seconds / halfLifeSeconds) + Math.max(0, used);
}

interface Account {
  readonly executionId: string;
  /** Used time of this execution, seconds. */
  readonly used: number;
  readonly atMs: number;
  readonly held: number;
  readonly weight: number;
}

const heldNow = ({ held, atMs }: Account, used: number, nowMs: number): number =>
  accountAfter(held, used, (nowMs - atMs) / 1000);

export interface CpuKeeperParts {
  readonly watch: Pick<ExitWatch, 'all'>;
  readonly cgroups: () => Pick<Cgroups, 'weigh'>;
  /** Processor time of a VM since it began, seconds; by default its emulator's. */
  readonly used?: (vm: Watched) => Promise<number>;
  readonly log: Pick<Log, 'debug'>;
}

export class CpuKeeper {
  private readonly parts: CpuKeeperParts;
  private accounts = new Map<string, Account>();
  private timer: NodeJS.Timeout | null = null;
  private stopped = true;

  constructor(parts: CpuKeeperParts) {
    this.parts = parts;
  }

  start(): void {
    this.stopped = false;
    this.wait();
  }

  stop(): void {
    this.stopped = true;
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }

  /** Looks at all VMs once. Never rejects: a VM that has just ended has no weight. */
  async look(): Promise<void> {
    const looked = new Map<string, Account>();
    for (const vm of this.parts.watch.all()) {
      const account = await this.weigh(vm, this.accounts.get(vm.agentId)).catch((error: unknown) => {
        this.parts.log.debug({ agent_id: vm.agentId, err: error }, 'a VM was not weighed');
        return null;
      });
      if (account) looked.set(vm.agentId, account);
    }
    for (const [agentId, account] of this.accounts) {
      const isPaidOff = weightOf(heldNow(account, 0, performance.now())) === 1;
      if (!looked.has(agentId) && !isPaidOff) looked.set(agentId, account);
    }
    this.accounts = looked;
  }

  private async weigh(vm: Watched, before: Account | undefined): Promise<Account> {
    const { used: read = ({ process }: Watched) => cpuSeconds(process) } = this.parts;
    const { agentId, executionId } = vm;
    const [used, atMs] = [await read(vm), performance.now()];
    const isSame = before?.executionId === executionId;
    const held = before ? heldNow(before, used - (isSame ? before.used : 0), atMs) : 0;
    const weight = weightOf(held);
    // Another execution has a new group.
    if (!isSame || weight !== before.weight) await this.parts.cgroups().weigh(agentId, weight);
    return { executionId, used, atMs, held, weight };
  }

  private wait(): void {
    this.timer = setTimeout(() => {
      void this.look().then(() => {
        if (!this.stopped) this.wait();
      });
    }, everyMs).unref();
  }
}
