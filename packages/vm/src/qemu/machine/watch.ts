/**
 * Notices that a VM's process has ended. QEMU's end closes its control connection at once; where there is no connection
 * (a VM that was found again and does not answer), the process table is looked at.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../host/process.ts';
import type { ProcessMark } from '../host/process.ts';
import type { Qmp } from './qmp.ts';

export interface Watched {
  readonly agentId: string;
  readonly executionId: string;
  readonly process: ProcessMark;
  /** Held for as long as the VM is watched; null until QEMU answers. */
  qmp: Qmp | null;
}

export type ExitListener = (exit: { readonly agentId: string; readonly executionId: string }) => void;

const lookEveryMs = 500;
/** Between the end of the connection and that of the process lies the release of the guest's memory. */
const endingEveryMs = 5;
const endingMs = 5000;

export class ExitWatch {
  private readonly listeners = new Set<ExitListener>();
  private readonly watched = new Map<string, Watched>();
  private readonly stopping = new AbortController();

  onExit(listener: ExitListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  add(vm: Watched): void {
    this.watched.set(vm.agentId, vm);
    void this.follow(vm);
  }

  get(agentId: string): Watched | null {
    return this.watched.get(agentId) ?? null;
  }

  all(): readonly Watched[] {
    return [...this.watched.values()];
  }

  stop(): void {
    this.stopping.abort();
    for (const { qmp } of this.watched.values()) qmp?.close();
    this.watched.clear();
  }

  private async follow(vm: Watched): Promise<void> {
    let quickUntil = 0;
    while (!this.stopping.signal.aborted && isAlive(vm.process)) {
      if (vm.qmp?.isOpen) {
        await vm.qmp.closed;
        quickUntil = performance.now() + endingMs;
        continue;
      }
      const everyMs = performance.now() < quickUntil ? endingEveryMs : lookEveryMs;
      await sleep(everyMs, undefined, { signal: this.stopping.signal, ref: false }).catch(() => undefined);
    }
    if (this.stopping.signal.aborted) return;
    if (this.watched.get(vm.agentId) === vm) this.watched.delete(vm.agentId);
    for (const listener of this.listeners) listener({ agentId: vm.agentId, executionId: vm.executionId });
  }
}
