/**
 * Lowers the weight of VMs that have been busy for long, so that one that wakes comes before them. Each has an account of the
 * processor time that it used, which halves every minute: little use costs nothing, and who is idle has full weight again. The
 * account is its agent's: who stops and starts, or whose machine dies, goes on with it.
 * Weights bind nobody on a host with processors to spare. What is held here may be lost: a new process begins with full weights.
 */
import type { Log } from '@lodge/ports';
import type { Cgroups } from '../host/cgroup.ts';
import { cpuSeconds } from '../host/process.ts';
import type { ExitWatch, Watched } from '../machine/watch.ts';

const everyMs = 5_000;
const halfLifeSeconds = 60;
/** Processor time within the last minutes that costs no weight: a turn of an agent takes about as much. */
const freeSeconds = 5;
export const leastWeight = 0.1;

/** The weight of a VM whose account holds so much, from 0.1 to 1, in steps of a tenth. */
export function weightOf(account: number): number {
  const weight = Math.min(1, freeSeconds / Math.max(account, freeSeconds));
  return Math.max(leastWeight, Math.round(weight * 10) / 10);
}

/** What an account holds after `seconds` in which its VM used `used` of processor time. */
export function accountAfter(account: number, used: number, seconds: number): number {
  return account * 0.5 ** (seconds / halfLifeSeconds) + Math.max(0, used);
}

interface Account {
  readonly executionId: string;
  /** Of this execution, seconds. */
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

  /** One look at all VMs. Never rejects: one that has just ended has no weight. */
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
    // The group of another execution is a new one.
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
