/** Saved machines of a fake host, as its drivers serve them. */
import { VmError } from '@lodge/ports';
import type { SavedMachine, SavedMachines, SaveRequest, Saving } from '@lodge/ports';
import type { AgentCalls } from '../calls.ts';
import type { FakeHost, FakeStep, FakeVm } from './host.ts';
import { savingOf } from './vm.ts';

type Execution = Pick<FakeVm, 'agentId' | 'executionId'>;

export abstract class FakeSavedMachines implements SavedMachines {
  protected abstract readonly host: FakeHost;
  protected abstract readonly calls: AgentCalls;
  /** Does something to the VM of exactly that execution. */
  protected abstract onVm<T>(
    agentId: string,
    executionId: string,
    signal: AbortSignal,
    work: (vm: FakeVm, signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
  /** Waits for a step; a crashed driver never reaches the next one. */
  protected abstract reach(step: FakeStep, execution: Execution, signal: AbortSignal): Promise<void>;

  async save(agentId: string, executionId: string, request: SaveRequest, signal: AbortSignal): Promise<Saving> {
    const work = async (own: AbortSignal): Promise<Saving> => {
      const there = this.host.saved.get(request.id);
      if (there && there.agentId !== agentId) throw new VmError('failed', `${request.id} is of another agent`);
      if (there) return savingOf(there);
      const vm = this.host.vms.get(agentId);
      const isAtRest = vm?.executionId === executionId && (vm.phase === 'suspended' || vm.phase === 'disk');
      if (isAtRest) return savingOf(this.host.save(vm, request));
      return this.onVm(agentId, executionId, own, (running) => this.saveAndGoOn(running, request, own));
    };
    return this.calls.run(agentId, { creates: null, yields: true, signal, work });
  }

  async findSaved(id: string): Promise<SavedMachine | null> {
    const saved = this.host.saved.get(id);
    if (!saved) return null;
    const { files: _files, listing: _listing, damaged: _damaged, madeAt: _madeAt, memory, ...rest } = saved;
    const loads = memory !== null && !this.host.isForeign ? 'memory' : 'disk';
    const { bytes, diskBytes } = savingOf(saved);
    const heldBytes = bytes + diskBytes;
    return { ...rest, memory: memory !== null, loads, bytes, diskBytes, heldBytes };
  }

  async checkSaved(id: string): Promise<string | null> {
    return this.host.savedOf(id).damaged;
  }

  async readListing(id: string): Promise<string | null> {
    return this.host.savedOf(id).listing;
  }

  async shareSaved(id: string, signal: AbortSignal): Promise<void> {
    await this.reach('share', this.host.savedOf(id), signal);
    this.host.intactOf(id);
  }

  async copySaved(from: string, to: string): Promise<void> {
    if (this.host.saved.has(to)) return;
    this.host.saved.set(to, { ...this.host.savedOf(from), id: to, madeAt: new Date() });
  }

  async dropSaved(id: string): Promise<void> {
    this.host.saved.delete(id);
  }

  async collectSaved(keep: ReadonlySet<string>, savedBefore: Date): Promise<readonly string[]> {
    const gone = [...this.host.saved.values()].filter(({ id, madeAt }) => !keep.has(id) && madeAt < savedBefore);
    for (const { id } of gone) this.host.saved.delete(id);
    return gone.map(({ id }) => id);
  }

  private async saveAndGoOn(vm: FakeVm, request: SaveRequest, signal: AbortSignal): Promise<Saving> {
    const { paused } = vm;
    try {
      await this.reach('still', vm, signal);
      vm.paused = true;
      await this.reach('keep', vm, signal);
      return savingOf(this.host.save(vm, request));
    } finally {
      // A crashed driver never gets here: its VM stays paused.
      vm.paused = paused;
    }
  }
}
