import type { EgressRules, VmDeath } from '@lodge/domain';
import type {
  CarriedData,
  DiskUse,
  Machine,
  RuntimeFacts,
  Suspension,
  Template,
  TemplateBuild,
  TemplateRequest,
  Vm,
  VmDriver,
  VmObservation,
  VmRequest,
  VmUsage,
} from '@lodge/ports';
import type { Meter } from './meter.ts';

/** A driver whose VMs are read by the meter before they end: `suspend`, `backUp`, `rollBack` and `remove`. */
export class MeteredDriver implements VmDriver {
  private readonly driver: VmDriver;
  private readonly meter: Pick<Meter, 'readLast'>;

  constructor(driver: VmDriver, meter: Pick<Meter, 'readLast'>) {
    this.driver = driver;
    this.meter = meter;
  }

  async suspend(agentId: string, executionId: string, facts: RuntimeFacts, signal: AbortSignal): Promise<Suspension> {
    await this.meter.readLast(agentId);
    return this.driver.suspend(agentId, executionId, facts, signal);
  }

  async backUp(
    agentId: string,
    executionId: string,
    kept: { readonly facts: RuntimeFacts; readonly data: CarriedData },
    signal: AbortSignal,
  ): Promise<Suspension> {
    await this.meter.readLast(agentId);
    return this.driver.backUp(agentId, executionId, kept, signal);
  }

  async rollBack(agentId: string): Promise<void> {
    await this.meter.readLast(agentId);
    return this.driver.rollBack(agentId);
  }

  async remove(agentId: string, options: { readonly keepDisk: boolean }): Promise<void> {
    await this.meter.readLast(agentId);
    return this.driver.remove(agentId, options);
  }

  get brokerHost(): string {
    return this.driver.brokerHost;
  }

  get pace(): number {
    return this.driver.pace;
  }

  start(): Promise<void> {
    return this.driver.start();
  }

  stop(): Promise<void> {
    return this.driver.stop();
  }

  findTemplate(request: TemplateRequest): Promise<Template | null> {
    return this.driver.findTemplate(request);
  }

  getTemplate(id: string): Promise<Template | null> {
    return this.driver.getTemplate(id);
  }

  buildTemplate(build: TemplateBuild, signal: AbortSignal): Promise<Template> {
    return this.driver.buildTemplate(build, signal);
  }

  collectTemplates(keep: ReadonlySet<string>): Promise<readonly string[]> {
    return this.driver.collectTemplates(keep);
  }

  create(request: VmRequest, signal: AbortSignal): Promise<Vm> {
    return this.driver.create(request, signal);
  }

  pause(agentId: string, executionId: string): Promise<void> {
    return this.driver.pause(agentId, executionId);
  }

  resume(agentId: string, executionId: string): Promise<void> {
    return this.driver.resume(agentId, executionId);
  }

  carryOver(agentId: string, executionId: string, data: CarriedData, signal: AbortSignal): Promise<void> {
    return this.driver.carryOver(agentId, executionId, data, signal);
  }

  dropBackup(agentId: string): Promise<void> {
    return this.driver.dropBackup(agentId);
  }

  resize(agentId: string, executionId: string, machine: Machine, signal: AbortSignal): Promise<Machine> {
    return this.driver.resize(agentId, executionId, machine, signal);
  }

  guestCredential(agentId: string, address: string): Promise<string | null> {
    return this.driver.guestCredential(agentId, address);
  }

  usage(agentId: string): Promise<VmUsage | null> {
    return this.driver.usage(agentId);
  }

  readConsole(agentId: string): Promise<string> {
    return this.driver.readConsole(agentId);
  }

  death(agentId: string): Promise<VmDeath | null> {
    return this.driver.death(agentId);
  }

  setEgress(agentId: string, rules: EgressRules): Promise<void> {
    return this.driver.setEgress(agentId, rules);
  }

  readRefused(agentId: string): ReturnType<VmDriver['readRefused']> {
    return this.driver.readRefused(agentId);
  }

  inspect(agentId: string): Promise<VmObservation | null> {
    return this.driver.inspect(agentId);
  }

  list(): Promise<VmObservation[]> {
    return this.driver.list();
  }

  onExit(listener: (exit: { readonly agentId: string; readonly executionId: string }) => void): () => void {
    return this.driver.onExit(listener);
  }

  hostMemory(): Promise<{ readonly totalMib: number; readonly availableMib: number }> {
    return this.driver.hostMemory();
  }

  hostDisk(): Promise<{ readonly totalMib: number; readonly freeMib: number }> {
    return this.driver.hostDisk();
  }

  diskUse(of: 'all' | 'running'): Promise<readonly DiskUse[]> {
    return this.driver.diskUse(of);
  }
}
