/** The driver port over a `FakeHost`. Keeps every promise of the port that the conformance suite checks. */
import { createHash } from 'node:crypto';
import { VmError } from '@lodge/engine/ports';
import type {
  Template,
  TemplateBuild,
  TemplateRequest,
  Vm,
  VmDriver,
  VmObservation,
  VmRequest,
} from '@lodge/engine/ports';
import { AgentCalls } from '../calls.ts';
import { throwIfAborted, toVmError } from '../waiting.ts';
import { copyOf, fakeSteps } from './host.ts';
import type { FakeHost, FakeTemplate, FakeVm } from './host.ts';

export interface FakeDriver extends VmDriver {
  /** As kill -9 of its process: nothing it has under way goes on, and nobody it works for hears of it again. */
  crash(): void;
}

export function createFakeDriver(host: FakeHost): FakeDriver {
  return new InMemoryDriver(host);
}

class InMemoryDriver implements FakeDriver {
  readonly brokerHost: string;
  private readonly host: FakeHost;
  private readonly calls = new AgentCalls();
  private readonly unsubscribes = new Set<() => void>();
  private crashed = false;

  constructor(host: FakeHost) {
    this.host = host;
    this.brokerHost = host.brokerHost;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    await this.calls.end(new VmError('aborted', 'the driver stops'));
    for (const unsubscribe of this.unsubscribes) unsubscribe();
  }

  crash(): void {
    this.crashed = true;
    for (const unsubscribe of this.unsubscribes) unsubscribe();
  }

  async findTemplate(request: TemplateRequest): Promise<Template | null> {
    return this.host.templates.get(templateId(request)) ?? null;
  }

  async getTemplate(id: string): Promise<Template | null> {
    return this.host.templates.get(id) ?? null;
  }

  async buildTemplate(build: TemplateBuild, signal: AbortSignal): Promise<Template> {
    const id = templateId(build);
    return this.calls.run(id, {
      creates: null,
      work: async () => this.host.templates.get(id) ?? (await this.make(id, build, signal)),
    });
  }

  async create(request: VmRequest, signal: AbortSignal): Promise<Vm> {
    const { agentId, executionId } = request;
    const superseded = new VmError('superseded', `execution ${executionId} of ${agentId} takes its place`);
    this.calls.voidCreates(agentId, superseded, executionId);
    return this.calls.run(agentId, { creates: executionId, signal, work: (own) => this.bringUp(request, own) });
  }

  async inspect(agentId: string): Promise<VmObservation | null> {
    const vm = this.host.vms.get(agentId);
    return vm ? observe(vm) : null;
  }

  async list(): Promise<VmObservation[]> {
    return [...this.host.vms.values()].map(observe);
  }

  async remove(agentId: string, { keepDisk }: { readonly keepDisk: boolean }): Promise<void> {
    this.calls.voidCreates(agentId, new VmError('aborted', `${agentId} is being removed`));
    await this.calls.run(agentId, { creates: null, work: async () => this.takeAway(agentId, keepDisk) });
  }

  onExit(listener: (exit: { readonly agentId: string; readonly executionId: string }) => void): () => void {
    // As from another process: never within the call that caused it.
    const later = (exit: { agentId: string; executionId: string }): void => queueMicrotask(() => listener(exit));
    this.host.exits.add(later);
    const unsubscribe = (): void => void this.host.exits.delete(later);
    this.unsubscribes.add(unsubscribe);
    return unsubscribe;
  }

  async hostMemory(): Promise<{ readonly totalMib: number; readonly availableMib: number }> {
    return this.host.memory;
  }

  private async make(id: string, build: TemplateBuild, signal: AbortSignal): Promise<Template> {
    const address = this.host.newAddress();
    const guest = { files: new Map<string, string>(), memory: new Map<string, string>() };
    const machine = { vcpus: 2, memoryMib: 2048, diskGib: 10 };
    const vm: FakeVm = { agentId: id, executionId: id, phase: 'creating', alive: true, address, machine, guest };
    this.host.builds.add(vm);
    try {
      const facts = await build.prepare({ address }, signal);
      throwIfAborted(signal);
      const template: FakeTemplate = { id, imageId: build.image.id, facts, guest: copyOf(guest) };
      this.host.templates.set(id, template);
      return template;
    } catch (error) {
      throw toVmError(error, signal);
    } finally {
      this.host.builds.delete(vm);
    }
  }

  private async bringUp(request: VmRequest, signal: AbortSignal): Promise<Vm> {
    const { agentId, executionId, from, machine } = request;
    const there = this.host.vms.get(agentId);
    if (there?.executionId === executionId && there.phase === 'running' && there.alive) return asVm(there);
    this.takeAway(agentId, from === 'boot');
    const disk = this.host.vms.get(agentId);
    const template = this.host.templates.get(request.template.id);
    if (!template) throw new VmError('template_missing', `no template ${request.template.id}`);
    if (from === 'boot' && !disk) throw new VmError('disk_missing', `${agentId} has no disk to boot`);
    const guest = disk ? { files: disk.guest.files, memory: new Map<string, string>() } : copyOf(template.guest);
    const vm: FakeVm = { agentId, executionId, phase: 'creating', alive: false, address: null, machine, guest };
    this.host.vms.set(agentId, vm);
    try {
      for (const step of fakeSteps) {
        await this.reach(this.host.behaviour(step, request, signal));
        throwIfAborted(signal);
        if (step === 'start') Object.assign(vm, { alive: true, address: this.host.newAddress() });
        if (step !== 'disk' && !vm.alive) throw new VmError('failed', 'the VM ended before it was ready');
      }
      vm.phase = 'running';
      return asVm(vm);
    } catch (error) {
      this.takeAway(agentId, from === 'boot');
      throw toVmError(error, signal);
    }
  }

  /** Waits for a step; a crashed driver never comes to the next one. */
  private async reach(step: Promise<void>): Promise<void> {
    const settled = await step.then(
      () => null,
      (error: unknown) => ({ error }),
    );
    if (this.crashed) await new Promise(() => undefined);
    if (settled) throw settled.error;
  }

  private takeAway(agentId: string, keepDisk: boolean): void {
    const vm = this.host.vms.get(agentId);
    if (!vm) return;
    this.host.kill(agentId);
    if (keepDisk) Object.assign(vm, { phase: 'disk', address: null });
    else this.host.vms.delete(agentId);
  }
}

function templateId({ image, variant }: TemplateRequest): string {
  return createHash('sha256').update(`${image.id}\n${variant}`).digest('hex').slice(0, 16);
}

function asVm({ agentId, executionId, address }: FakeVm): Vm {
  return { agentId, executionId, address: address! };
}

function observe({ agentId, executionId, phase, alive, address }: FakeVm): VmObservation {
  if (phase === 'disk') return { agentId, executionId, state: 'disk-only', address };
  if (phase === 'creating') return { agentId, executionId, state: 'partial', address };
  return { agentId, executionId, state: alive ? 'running' : 'dead', address };
}
