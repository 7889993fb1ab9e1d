/**
 * Pages out VMs that have been paused for long, where the host has swap, so that sleeping agents hold less of its memory. One
 * VM at a time and once a pause. Every call for a VM ends its page-out and begins its time anew, so that a call waits for the
 * end of one child process and for nothing else. It is no harm when a VM is paged out only in part, or twice.
 *
 * The times are in memory: after a restart of this process they begin again, and VMs that are paged out already cost little.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@lodge/ports';
import type { ExitWatch, Watched } from '../machine/watch.ts';

const latestLookMs = 30_000;

export interface PageKeeperParts {
  readonly watch: Pick<ExitWatch, 'all'>;
  /** Length of a pause after which the VM is paged out, ms; 0: never. */
  readonly afterMs: number;
  /** Whether the host has swap now. */
  readonly hasSwap: () => Promise<boolean>;
  /** Runs the work in the VM's turn, if it stands still. Resolves with whether it does. */
  readonly whilePaused: (vm: Watched, work: (ends: AbortSignal) => Promise<void>) => Promise<boolean>;
  /** Pages out the memory of a VM. Bounded, and ends soon after its signal. */
  readonly pageOut: (vm: Watched, ends: AbortSignal) => Promise<void>;
  readonly log: Pick<Log, 'debug' | 'info'>;
}

/** A pause, as looks have found it. */
interface Pause {
  readonly executionId: string;
  readonly sinceMs: number;
  isOut: boolean;
}

export class PageKeeper {
  private readonly parts: PageKeeperParts;
  private readonly pauses = new Map<string, Pause>();
  private underway: { readonly agentId: string; readonly end: AbortController } | null = null;
  private stopping = new AbortController();
  private looking: Promise<void> = Promise.resolve();

  constructor(parts: PageKeeperParts) {
    this.parts = parts;
  }

  start(): void {
    if (this.parts.afterMs === 0) return;
    this.stopping = new AbortController();
    this.looking = this.lookOften(this.stopping.signal);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.underway?.end.abort();
    await this.looking;
    this.pauses.clear();
  }

  /** Ends a page-out of the agent's VM: a call for it begins. It may be another pause from then on. */
  disturb(agentId: string): void {
    this.pauses.delete(agentId);
    if (this.underway?.agentId === agentId) this.underway.end.abort();
  }

  /** Looks at all VMs once. Never rejects. */
  async look(nowMs = performance.now()): Promise<void> {
    const { watch, hasSwap } = this.parts;
    const vms = watch.all();
    const there = new Set(vms.map(({ agentId }) => agentId));
    for (const agentId of this.pauses.keys()) if (!there.has(agentId)) this.pauses.delete(agentId);
    if (!(await hasSwap().catch(() => false))) return;
    for (const vm of vms) {
      if (this.stopping.signal.aborted) return;
      await this.lookAt(vm, nowMs).catch((error: unknown) => {
        this.parts.log.debug({ agent_id: vm.agentId, err: error }, 'a VM was not paged out');
      });
    }
  }

  private async lookAt(vm: Watched, nowMs: number): Promise<void> {
    const { agentId, executionId } = vm;
    const pause = this.pauses.get(agentId);
    if (pause?.executionId !== executionId) {
      const nothing = (): Promise<void> => Promise.resolve();
      const isPaused = await this.parts.whilePaused(vm, nothing);
      if (isPaused) this.pauses.set(agentId, { executionId, sinceMs: nowMs, isOut: false });
      return;
    }
    if (pause.isOut || nowMs - pause.sinceMs < this.parts.afterMs) return;
    // A VM that cannot be paged out is not tried again in this pause.
    pause.isOut = true;
    const isCurrent = (): boolean => this.pauses.get(agentId) === pause;
    const isPaused = await this.parts.whilePaused(vm, async (ends) => {
      // A call that came meanwhile waits behind this one.
      if (isCurrent()) await this.pageOut(vm, ends);
    });
    if (!isPaused && isCurrent()) this.pauses.delete(agentId);
  }

  private async pageOut(vm: Watched, ends: AbortSignal): Promise<void> {
    const { agentId } = vm;
    const end = new AbortController();
    this.underway = { agentId, end };
    const began = performance.now();
    try {
      await this.parts.pageOut(vm, AbortSignal.any([ends, end.signal]));
      const fields = { agent_id: agentId, ms: Math.round(performance.now() - began), whole: !end.signal.aborted };
      this.parts.log.info(fields, 'a paused VM is paged out');
    } finally {
      this.underway = null;
    }
  }

  private async lookOften(stopped: AbortSignal): Promise<void> {
    const everyMs = Math.min(latestLookMs, this.parts.afterMs);
    const wait = (): Promise<boolean> => sleep(everyMs, true, { signal: stopped, ref: false }).catch(() => false);
    while (await wait()) await this.look();
  }
}
