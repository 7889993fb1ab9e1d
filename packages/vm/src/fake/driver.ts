/** The driver port over a `FakeHost`. It keeps every promise that the conformance suite checks. */
import type { EgressRules } from '@lodge/domain';
import { restOf, VmError } from '@lodge/ports';
import type { CarriedData, DiskUse, Machine, Template, TemplateBuild } from '@lodge/ports';
import type { Vm, VmDriver, VmObservation, VmRequest } from '@lodge/ports';
import { AgentCalls } from '../calls.ts';
import { dialAt, noGuest } from '../dial.ts';
import { throwIfAborted, toVmError } from '../waiting.ts';
import { copyOf, fakeMemorySteps, fakeSteps } from './host.ts';
import type { FakeHost, FakeStep, FakeVm } from './host.ts';
import { FakeSavedMachines } from './saved-machines.ts';
import { answering, asVm, filesOf, isExcept, type Keep, keptBy, newVm, observe, templateId } from './vm.ts';

export interface FakeDriver extends VmDriver {
  /** Acts like kill -9 of its process: nothing in progress goes on, and no caller hears of it again. */
  crash(): void;
}

export function createFakeDriver(host: FakeHost): FakeDriver {
  return new InMemoryDriver(host);
}

class InMemoryDriver extends FakeSavedMachines implements FakeDriver {
  readonly brokerHost: string;
  readonly showBrowser: VmDriver['showBrowser'] = (agentId, executionId) =>
    this.inTurn(agentId, executionId, async (vm) => this.host.showBrowser(vm));
  readonly usage: VmDriver['usage'] = async (agentId) => this.host.usageOf(agentId);
  readonly hostMemory: VmDriver['hostMemory'] = async () => this.host.memory;
  readonly hostDisk: VmDriver['hostDisk'] = async () => this.host.disk;
  readonly findTemplate: VmDriver['findTemplate'] = async (request) =>
    this.host.templates.get(templateId(request)) ?? null;
  readonly getTemplate: VmDriver['getTemplate'] = async (id) => this.host.templates.get(id) ?? null;
  readonly guestCredential: VmDriver['guestCredential'] = async (agentId, address) => {
    const vm = this.host.vms.get(agentId);
    return vm?.address === address ? vm.credential : null;
  };
  readonly dial: VmDriver['dial'] = async (agentId, port, signal) => {
    const vm = this.host.vms.get(agentId);
    if (!vm?.alive || vm.phase !== 'running' || vm.address === null) throw noGuest(agentId);
    return dialAt(vm.address)(port, signal);
  };
  readonly readRefused: VmDriver['readRefused'] = async (agentId) => {
    return { refused: this.host.vms.get(agentId)?.refused.splice(0) ?? [], more: 0 };
  };
  readonly readConsole: VmDriver['readConsole'] = async (agentId) => this.host.readConsole(agentId);
  readonly death: VmDriver['death'] = async (agentId) => this.host.deathOf(agentId);
  protected readonly host: FakeHost;
  protected readonly calls = new AgentCalls();
  private readonly unsubscribes = new Set<() => void>();
  private crashed = false;

  constructor(host: FakeHost) {
    super();
    this.host = host;
    this.brokerHost = host.brokerHost;
  }

  get pace(): number {
    return this.host.pace;
  }

  async start(): Promise<void> {
    for (const { agentId, executionId, phase, overRest } of this.host.vms.values()) {
      const rest = this.host.restOf(agentId);
      if (!rest) continue;
      if (rest.executionId === executionId || (overRest && phase !== 'running')) this.takeAway(agentId, 'nothing');
      else if (overRest) this.host.saved.delete(rest.id);
    }
  }

  async stop(): Promise<void> {
    await this.calls.end(new VmError('aborted', 'the driver stops'));
    for (const unsubscribe of this.unsubscribes) unsubscribe();
  }

  crash(): void {
    this.crashed = true;
    for (const unsubscribe of this.unsubscribes) unsubscribe();
  }

  async buildTemplate(build: TemplateBuild, signal: AbortSignal): Promise<Template> {
    const id = templateId(build);
    const work = async () => this.host.templates.get(id) ?? (await this.make(id, build, signal));
    return this.calls.run(id, { creates: null, work });
  }

  async create(request: VmRequest, signal: AbortSignal): Promise<Vm> {
    const { agentId, executionId } = request;
    this.calls.supersede(agentId, executionId);
    return this.calls.run(agentId, { creates: executionId, signal, work: (own) => this.bringUp(request, own) });
  }

  async pause(agentId: string, executionId: string): Promise<void> {
    await this.inTurn(agentId, executionId, async (vm, signal) => {
      await this.reach('pause', vm, signal);
      vm.paused = true;
    });
  }

  async resume(agentId: string, executionId: string): Promise<void> {
    await this.inTurn(agentId, executionId, async (vm, signal) => {
      await this.reach('resume', vm, signal);
      Object.assign(vm, { paused: false, halted: null });
    });
  }

  async carryOver(agentId: string, executionId: string, data: CarriedData, signal: AbortSignal): Promise<void> {
    await this.inTurn(
      agentId,
      executionId,
      async (vm, own) => {
        await this.reach('carry', vm, own);
        const kept = this.host.restOf(agentId)?.data;
        if (!kept) throw new VmError('saved_missing', `${agentId} has no machine at rest with its data`);
        for (const name of filesOf(vm.guest, data).keys()) vm.guest.files.delete(name);
        for (const [name, text] of kept) if (!isExcept(name, data)) vm.guest.files.set(name, text);
      },
      signal,
    );
  }

  async resize(agentId: string, executionId: string, machine: Machine, signal: AbortSignal): Promise<Machine> {
    const fit = async (vm: FakeVm, own: AbortSignal): Promise<Machine> => {
      if (vm.paused) throw new VmError('failed', `${agentId} is paused: its guest cannot give or take memory`);
      await this.reach('resize', vm, own);
      const least = Math.min(vm.machine.memoryMib, this.host.leastMemoryMib);
      vm.machine = { ...machine, memoryMib: Math.max(machine.memoryMib, least) };
      return vm.machine;
    };
    return this.inTurn(agentId, executionId, fit, signal);
  }

  async setEgress(agentId: string, rules: EgressRules): Promise<void> {
    const work = async (signal: AbortSignal): Promise<void> => {
      const vm = this.host.vms.get(agentId);
      if (!vm?.alive) return;
      await this.reach('restrict', vm, signal);
      vm.egress = rules;
    };
    await this.calls.run(agentId, { creates: null, yields: true, work });
  }

  async collectTemplates(keep: ReadonlySet<string>): Promise<readonly string[]> {
    const { vms, saved } = this.host;
    const used = new Set([...vms.values(), ...saved.values()].map((vm) => vm.templateId));
    const gone = [...this.host.templates.keys()].filter((id) => !keep.has(id) && !used.has(id));
    for (const id of gone) this.host.templates.delete(id);
    return gone;
  }

  async inspect(agentId: string): Promise<VmObservation | null> {
    const rest = this.host.restOf(agentId);
    const vm = this.host.vms.get(agentId);
    if (rest && (!vm || vm.executionId === rest.executionId)) {
      return { agentId, executionId: rest.executionId, state: 'suspended', address: null, backup: null };
    }
    return vm ? { ...observe(vm), backup: rest && !vm.overRest ? rest.executionId : null } : null;
  }

  async list(): Promise<VmObservation[]> {
    const found = await Promise.all(this.host.agentIds().map((agentId) => this.inspect(agentId)));
    return found.filter((observation) => observation !== null);
  }

  async remove(agentId: string, { keepDisk, keepRest = false }: Parameters<VmDriver['remove']>[1]): Promise<void> {
    this.calls.void(agentId, new VmError('aborted', `${agentId} is being removed`));
    const work = async (): Promise<void> => {
      this.takeAway(agentId, keepDisk ? 'disk' : 'nothing');
      if (!keepDisk && !keepRest) this.host.saved.delete(restOf(agentId));
    };
    await this.calls.run(agentId, { creates: null, work });
  }

  onExit(listener: (exit: { readonly agentId: string; readonly executionId: string }) => void): () => void {
    // The exit comes as from another process: never within the call that caused it.
    const later = (exit: { agentId: string; executionId: string }): void => queueMicrotask(() => listener(exit));
    this.host.exits.add(later);
    const unsubscribe = (): void => void this.host.exits.delete(later);
    this.unsubscribes.add(unsubscribe);
    return unsubscribe;
  }

  async diskUse(of: 'all' | 'running'): Promise<readonly DiskUse[]> {
    const uses = this.host.agentIds().map((agentId) => this.host.diskUseOf(agentId));
    return of === 'all' ? uses : uses.filter(({ executionId }) => executionId !== null);
  }

  private async make(id: string, build: TemplateBuild, signal: AbortSignal): Promise<Template> {
    const address = this.host.newAddress();
    const guest = this.host.guestToPrepare(build);
    const machine = { vcpus: 2, memoryMib: 2048, diskGib: 10 };
    const request = { agentId: id, executionId: id, machine };
    const vm: FakeVm = { ...newVm(request, id, guest), alive: true, address };
    this.host.builds.add(vm);
    try {
      const at = { address, dial: dialAt(address), pace: this.pace };
      const facts = await build.prepare({ ...at, credential: () => Promise.resolve(null) }, signal);
      throwIfAborted(signal);
      const { image, variant } = build;
      return this.host.keep({ id, imageId: image.id, facts, variant, guest: copyOf(guest) });
    } catch (error) {
      throw toVmError(error, signal);
    } finally {
      this.host.builds.delete(vm);
    }
  }

  private inTurn<T>(
    agentId: string,
    executionId: string,
    work: (vm: FakeVm, signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const call = { creates: null, yields: true, ...(signal ? { signal } : {}) };
    return this.calls.run(agentId, { ...call, work: (own) => this.onVm(agentId, executionId, own, work) });
  }

  /** Does something to the VM of exactly that execution. */
  protected async onVm<T>(
    agentId: string,
    executionId: string,
    signal: AbortSignal,
    work: (vm: FakeVm, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const vm = this.host.vms.get(agentId);
    if (vm?.executionId !== executionId || vm.phase !== 'running' || !vm.alive) {
      throw new VmError('gone', `execution ${executionId} of ${agentId} does not run here`);
    }
    try {
      return await work(answering(vm), signal);
    } catch (error) {
      throw toVmError(error, signal);
    }
  }

  private async bringUp(request: VmRequest, signal: AbortSignal): Promise<Vm> {
    const { agentId, executionId, from } = request;
    const there = this.host.vms.get(agentId);
    if (there?.executionId === executionId && there.phase === 'running' && there.alive) {
      answering(there).paused = false;
      return asVm(there);
    }
    // A create that cannot begin changes nothing.
    if (typeof from === 'object') this.host.assertLoads(from);
    this.takeAway(agentId, keptBy(from));
    const vm = this.lay(request);
    this.host.vms.set(agentId, vm);
    try {
      for (const step of vm.loading ? fakeMemorySteps : fakeSteps) await this.take(step, vm, signal);
      vm.phase = 'running';
      if (vm.overRest) this.host.saved.delete(restOf(agentId));
      return asVm(vm);
    } catch (error) {
      this.takeAway(agentId, keptBy(from));
      throw toVmError(error, signal);
    }
  }

  /** Makes the VM as it is before its first step; the host keeps the parts of the agent that the start needs. */
  private lay(request: VmRequest): FakeVm {
    const { agentId, from } = request;
    const disk = this.host.vms.get(agentId);
    const template = this.host.templates.get(request.template.id);
    if (from === 'boot' && !disk) throw new VmError('disk_missing', `${agentId} has no disk to boot`);
    if (!template) throw new VmError('template_missing', `no template ${request.template.id}`);
    const seesBrowser = this.host.hasBrowserDisk;
    if (typeof from === 'object') {
      const saved = this.host.intactOf(from.saved);
      const guest = { files: new Map(saved.files), memory: new Map<string, string>() };
      const loading = from.memory ? saved : null;
      const kept = { loading, overRest: saved.id === restOf(agentId), still: request.still ?? false };
      return { ...newVm(request, template.id, guest), ...kept, seesBrowser };
    }
    const guest = disk ? { files: disk.guest.files, memory: new Map<string, string>() } : copyOf(template.guest);
    return { ...newVm(request, template.id, guest), seesBrowser };
  }

  private async take(step: (typeof fakeSteps | typeof fakeMemorySteps)[number], vm: FakeVm, signal: AbortSignal) {
    await this.reach(step, vm, signal);
    throwIfAborted(signal);
    if (step === 'start') Object.assign(vm, { alive: true, address: this.host.newAddress() });
    if (step !== 'disk' && step !== 'check' && !vm.alive) {
      throw new VmError('failed', 'the VM ended before it was ready');
    }
    if (step === 'daemon') vm.credential = this.host.newCredential();
    if (step !== 'load' || !vm.loading) return;
    const { memory, facts } = vm.loading;
    Object.assign(vm, { facts: facts ?? {}, loading: null, guest: { files: vm.guest.files, memory: new Map(memory) } });
  }

  /** Waits for a step; a crashed driver never reaches the next one. */
  protected async reach(
    step: FakeStep,
    { agentId, executionId }: Pick<FakeVm, 'agentId' | 'executionId'>,
    signal: AbortSignal,
  ): Promise<void> {
    const settled = await this.host.behaviour(step, { agentId, executionId }, signal).then(
      () => null,
      (error: unknown) => ({ error }),
    );
    if (this.crashed) await new Promise(() => undefined);
    if (settled) throw settled.error;
    throwIfAborted(signal);
  }

  protected takeAway(agentId: string, keep: Keep): void {
    const vm = this.host.vms.get(agentId);
    if (!vm) return;
    this.host.kill(agentId);
    Object.assign(vm, { address: null, credential: null, console: '' });
    if (keep === 'nothing') this.host.vms.delete(agentId);
    else vm.phase = 'disk';
  }
}
