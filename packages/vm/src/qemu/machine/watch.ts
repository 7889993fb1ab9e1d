/**
 * Notices that a VM's process has ended. QEMU's end closes its control connection at once; without a connection (a VM that
 * was found again and does not answer), the watch looks at the process table. A QEMU that breaks the protocol was taken over
 * by its guest, and is ended.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@lodge/ports';
import { isAlive, kill } from '../host/process.ts';
import type { ProcessMark } from '../host/process.ts';
import type { Qmp } from './qmp.ts';
import type { Witness } from './witness.ts';

export interface Watched {
  readonly agentId: string;
  readonly executionId: string;
  readonly process: ProcessMark;
  /** Kept for as long as the VM is watched; null until QEMU answers. */
  qmp: Qmp | null;
  readonly witness: Witness;
}

export type ExitListener = (exit: { readonly agentId: string; readonly executionId: string }) => void;

const lookEveryMs = 500;
/** The release of the guest's memory lies between the ends of connection and process. */
const endingEveryMs = 5;
const endingMs = 5000;

export class ExitWatch {
  private readonly listeners = new Set<ExitListener>();
  private readonly watched = new Map<string, Watched>();
  private readonly stopping = new AbortController();
  private readonly log: Pick<Log, 'warn'>;

  constructor(log: Pick<Log, 'warn'>) {
    this.log = log;
  }

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
        const { qmp } = vm;
        await qmp.closed;
        if (qmp.broken !== null) await this.endBroken(vm, qmp.broken);
        quickUntil = performance.now() + endingMs;
        continue;
      }
      const everyMs = performance.now() < quickUntil ? endingEveryMs : lookEveryMs;
      await sleep(everyMs, undefined, { signal: this.stopping.signal, ref: false }).catch(() => undefined);
    }
    if (this.stopping.signal.aborted) return;
    await this.noteDeath(vm);
    if (this.watched.get(vm.agentId) === vm) this.watched.delete(vm.agentId);
    for (const listener of this.listeners) listener({ agentId: vm.agentId, executionId: vm.executionId });
  }

  /** A listener that hears of the end may ask for the reason at once. */
  private async noteDeath({ agentId, executionId, witness }: Watched): Promise<void> {
    if (witness.isEndExpected) return;
    const fields = { agent_id: agentId, execution_id: executionId };
    try {
      const { code, detail } = await witness.death();
      this.log.warn({ ...fields, code, detail }, 'a virtual machine ended by itself');
    } catch (error) {
      this.log.warn({ ...fields, err: error }, 'nothing says why a virtual machine ended');
    }
  }

  private async endBroken({ agentId, executionId, process }: Watched, why: string): Promise<void> {
    const fields = { agent_id: agentId, execution_id: executionId, why };
    this.log.warn(fields, 'a virtual machine is ended: its emulator does not keep to its protocol');
    await kill(process).catch((error: unknown) => this.log.warn({ ...fields, err: error }, 'it does not end'));
  }
}
