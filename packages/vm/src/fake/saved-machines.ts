/** Saved machines of a fake host, as its drivers serve them. */
import { restOf, VmError } from '@lodge/ports';
import type { RestRequest, SavedMachine, SavedMachines, SaveRequest, Saving } from '@lodge/ports';
import type { AgentCalls } from '../calls.ts';
import type { FakeHost, FakeStep, FakeVm } from './host.ts';
import { filesOf, savingOf } from './vm.ts';
import type { Keep } from './vm.ts';

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
  /** Ends the agent's VM. */
  protected abstract takeAway(agentId: string, keep: Keep): void;
  /** Waits for a step; a crashed driver never reaches the next one. */
  protected abstract reach(step: FakeStep, execution: Execution, signal: AbortSignal): Promise<void>;

  async save(agentId: string, executionId: string, request: SaveRequest, signal: AbortSignal): Promise<Saving> {
    const work = async (own: AbortSignal): Promise<Saving> => {
      const there = this.host.saved.get(request.id);
      if (there && there.agentId !== agentId) throw new VmError('failed', `${request.id} is of another agent`);
      if (there) return savingOf(there);
      const vm = this.host.vms.get(agentId);
      if (!vm && this.host.restOf(agentId)?.executionId === executionId) {
        this.copy(restOf(agentId), request.id, request.memory);
        return savingOf(this.host.savedOf(request.id));
      }
      if (vm?.executionId === executionId && vm.phase === 'disk') return savingOf(this.host.save(vm, request));
      return this.onVm(agentId, executionId, own, (running) => this.saveAndGoOn(running, request, own));
    };
    return this.calls.run(agentId, { creates: null, yields: true, signal, work });
  }

  async rest(agentId: string, executionId: string, request: RestRequest, signal: AbortSignal): Promise<Saving> {
    const work = async (own: AbortSignal): Promise<Saving> => {
      const there = this.host.restOf(agentId);
      if (there?.executionId !== executionId) {
        await this.onVm(agentId, executionId, own, (vm) => this.keepAndFree(vm, request, own));
      }
      return savingOf(this.host.savedOf(restOf(agentId)));
    };
    return this.calls.run(agentId, { creates: null, yields: true, signal, work });
  }

  async findSaved(id: string): Promise<SavedMachine | null> {
    const saved = this.host.saved.get(id);
    if (!saved) return null;
    const {
      files: _files,
      listing: _listing,
      damaged: _damaged,
      madeAt: _madeAt,
      data: _data,
      memory,
      ...rest
    } = saved;
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
    const saved = this.host.saved.get(from);
    if (saved) await this.reach('copy', saved, new AbortController().signal);
    this.copy(from, to, true);
  }

  async dropSaved(id: string): Promise<void> {
    const saved = this.host.saved.get(id);
    if (saved && id === restOf(saved.agentId)) await this.reach('drop', saved, new AbortController().signal);
    this.host.saved.delete(id);
  }

  async collectSaved(keep: ReadonlySet<string>, savedBefore: Date): Promise<readonly string[]> {
    const isRest = ({ id, agentId }: { id: string; agentId: string }): boolean => id === restOf(agentId);
    const gone = [...this.host.saved.values()].filter(
      (saved) => !keep.has(saved.id) && saved.madeAt < savedBefore && !isRest(saved),
    );
    for (const { id } of gone) this.host.saved.delete(id);
    return gone.map(({ id }) => id);
  }

  private copy(from: string, to: string, isWanted: boolean): void {
    const saved = this.host.savedOf(from);
    const memory = isWanted ? saved.memory : null;
    this.host.saved.set(to, { ...saved, id: to, memory, data: null, madeAt: new Date() });
  }

  private async keepAndFree(vm: FakeVm, { facts, data }: RestRequest, signal: AbortSignal): Promise<void> {
    const { agentId, paused } = vm;
    const there = this.host.restOf(agentId);
    if (there && !vm.overRest) throw new VmError('failed', `${agentId} has a machine at rest`);
    if (data) await this.reach('collect', vm, signal);
    try {
      await this.reach('freeze', vm, signal);
      vm.paused = true;
      await this.reach('save', vm, signal);
    } catch (error) {
      vm.paused = paused;
      throw error;
    }
    this.host.save(vm, { id: restOf(agentId), memory: true, facts }, data ? filesOf(vm.guest, data) : null);
    // It is at rest by now, whatever becomes of its VM.
    await this.reach('release', vm, signal).catch(() => undefined);
    this.takeAway(agentId, 'nothing');
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
