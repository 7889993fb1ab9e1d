/**
 * The QEMU driver: every agent a VM of its own on this host.
 *
 * Owner of all state is the disk: a run directory per VM (`run-directory.ts`) and the kernel's own tables. What is held in
 * memory (calls under way, watched processes, taken slots) is made anew by `start`. VMs are detached and outlive us.
 *
 *   create: slot and record -> namespace, disk, control group -> QEMU -> record of the process -> device state loaded,
 *           machine sized, running -> daemon answers, clock set, machine complete -> record `running`
 *   remove: record `removing` -> process -> control group -> namespace -> files
 *
 * A kill between any two steps leaves a directory whose record says `creating` or `removing`: `partial` in `list`, taken
 * away whole by the next `remove` or `create`.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { guestClient } from '@lodge/guest';
import { VmError } from '@lodge/engine/ports';
import type {
  Log,
  Template,
  TemplateBuild,
  TemplateRequest,
  Vm,
  VmDriver,
  VmObservation,
  VmRequest,
} from '@lodge/engine/ports';
import { AgentCalls } from '../calls.ts';
import type { Accelerator } from './command-line.ts';
import { openTapDevice } from './device-nodes.ts';
import { passableFolder } from './host-folders.ts';
import { hostMemory } from './host-memory.ts';
import { assertMachine, awaitMemory, awaitVcpus } from './hotplug.ts';
import { collectLeftovers } from './leftovers.ts';
import { endOf } from './launch.ts';
import { lock } from './lock.ts';
import type { HostNetwork } from './network/index.ts';
import { awaitExit, isAlive } from './process.ts';
import type { ProcessMark } from './process.ts';
import { Qmp } from './qmp.ts';
import { isAgentId, RunDirectory } from './run-directory.ts';
import type { VmRecord } from './run-directory.ts';
import { Slots } from './slots.ts';
import { Templates } from './templates.ts';
import type { StoredTemplate } from './template-store.ts';
import { removeVm } from './vm-remove.ts';
import { startVm, together } from './vm-start.ts';
import type { StartedVm, VmHost } from './vm-start.ts';
import { throwIfAborted, toVmError } from '../waiting.ts';
import { ExitWatch } from './watch.ts';
import type { ExitListener } from './watch.ts';
import { openCgroups } from './cgroup.ts';
import type { Cgroups } from './cgroup.ts';

export interface QemuDriverOptions {
  /** Run directories lie in `vms` below it. Absolute, without a comma; VMs' users must be able to pass every folder above. */
  readonly dataDir: string;
  /** Templates, shared by every Lodge of this host. As `dataDir`. */
  readonly cacheDir: string;
  /** 1..8 characters a-z and 0-9: tells this Lodge's namespaces, processes and control groups from others' on the host. */
  readonly instance: string;
  readonly network: HostNetwork;
  /** Port of the LLM broker at the network's `brokerHost`. */
  readonly brokerPort: number;
  readonly accelerator: 'auto' | Accelerator;
  /** First of the user ids that VMs run as, one for each of the network's slots. */
  readonly uidBase: number;
  readonly log: Log;
}

/** From running processors to an answering daemon. */
const cloneTimeoutMs = 30_000;
const bootTimeoutMs = 300_000;
/** Until clock, vCPUs and memory are as asked for: the guest takes in a gigabyte in a fraction of a second, under emulation in one or two. */
const machineTimeoutMs = 120_000;
const adoptTimeoutMs = 5000;
const quitTimeoutMs = 5000;

export function createQemuDriver(options: QemuDriverOptions): VmDriver {
  return new QemuDriver(options);
}

class QemuDriver implements VmDriver {
  readonly brokerHost: string;
  private readonly options: QemuDriverOptions;
  private readonly vmsRoot: string;
  private readonly calls = new AgentCalls();
  private readonly slots: Slots;
  private readonly templates: Templates;
  private readonly watch = new ExitWatch();
  private cgroups: Cgroups | null = null;
  private unlock: (() => void) | null = null;

  constructor(options: QemuDriverOptions) {
    this.options = options;
    this.brokerHost = options.network.brokerHost;
    this.vmsRoot = join(options.dataDir, 'vms');
    this.slots = new Slots(options.network.maxSlots);
    this.templates = new Templates(options, this.slots);
  }

  async start(): Promise<void> {
    const { dataDir, cacheDir, instance, network, log } = this.options;
    // Two processes that own the same namespaces would take each other's away.
    this.unlock = await lock(`instance ${instance}`, { timeoutMs: 3000 });
    try {
      for (const folder of [dataDir, this.vmsRoot, this.templates.buildsRoot, cacheDir]) await passableFolder(folder);
      await openTapDevice();
      await network.start();
      this.cgroups = await openCgroups(instance);
      for (const reason of this.cgroups.missing) log.warn({ reason }, 'no limit on VMs from a control group');
      const records = await this.records();
      for (const record of records.values()) if (record?.slot != null) this.slots.keep(record.slot);
      const places = { ...this.options, vmsRoot: this.vmsRoot, buildsRoot: this.templates.buildsRoot };
      await collectLeftovers({ ...places, cgroups: this.cgroups, store: this.templates.store }, records);
      await Promise.all([...records.values()].filter((record) => record !== null).map((record) => this.adopt(record)));
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.calls.end(new VmError('aborted', 'the driver stops'));
    this.watch.stop();
    await this.cgroups?.close();
    this.unlock?.();
    this.unlock = null;
  }

  findTemplate(request: TemplateRequest): Promise<Template | null> {
    return this.templates.find(request);
  }

  getTemplate(id: string): Promise<Template | null> {
    return this.templates.get(id);
  }

  buildTemplate(build: TemplateBuild, signal: AbortSignal): Promise<Template> {
    return this.templates.build(build, this.started(), signal);
  }

  async create(request: VmRequest, signal: AbortSignal): Promise<Vm> {
    const { agentId, executionId } = request;
    const superseded = new VmError('superseded', `execution ${executionId} of ${agentId} takes its place`);
    this.calls.voidCreates(agentId, superseded, executionId);
    return this.calls.run(agentId, {
      creates: executionId,
      signal,
      work: async (own) => {
        try {
          return (await this.existing(request)) ?? (await this.make(request, own));
        } catch (error) {
          throw toVmError(error, own);
        }
      },
    });
  }

  async inspect(agentId: string): Promise<VmObservation | null> {
    return (await this.observations([agentId]))[0] ?? null;
  }

  async list(): Promise<VmObservation[]> {
    return this.observations((await readdir(this.vmsRoot)).filter(isAgentId));
  }

  async remove(agentId: string, { keepDisk }: { readonly keepDisk: boolean }): Promise<void> {
    this.calls.voidCreates(agentId, new VmError('aborted', `${agentId} is being removed`));
    const work = (): Promise<unknown> => this.takeAway(this.directory(agentId), keepDisk);
    await this.calls.run(agentId, { creates: null, work });
  }

  onExit(listener: ExitListener): () => void {
    return this.watch.onExit(listener);
  }

  hostMemory(): Promise<{ readonly totalMib: number; readonly availableMib: number }> {
    return hostMemory();
  }

  /** The VM of this very execution, when it runs already. */
  private async existing({ agentId, executionId }: VmRequest): Promise<Vm | null> {
    const record = await this.directory(agentId).read();
    if (record?.executionId !== executionId || observe(agentId, record).state !== 'running') return null;
    return { agentId, executionId, address: record.address! };
  }

  private async make(request: VmRequest, signal: AbortSignal): Promise<Vm> {
    const { agentId, from, machine, template: wanted } = request;
    const started = performance.now();
    assertMachine(machine);
    const directory = this.directory(agentId);
    await this.takeAway(directory, from === 'boot');
    const template = await this.templates.startable(wanted.id, from);
    if (machine.diskGib * 2 ** 30 > template.diskBytes) {
      throw new VmError('failed', `${machine.diskGib} GiB of disk are more than the template has`);
    }
    const host = await this.templates.vmHost(template, this.started());
    throwIfAborted(signal);
    const slot = this.slots.claim();
    try {
      const { vm, timings } = await this.bringUp(host, request, template, slot, signal);
      const figures = { ...timings, total: Math.round(performance.now() - started) };
      this.options.log.info({ agent_id: agentId, from, address: vm.address, ms: figures }, 'VM made');
      return vm;
    } catch (error) {
      await this.undo(directory, from === 'boot', slot);
      throw error;
    }
  }

  private async undo(directory: RunDirectory, keepDisk: boolean, slot: number): Promise<void> {
    try {
      // A record that could not be written does not name the slot.
      if ((await this.takeAway(directory, keepDisk)) !== slot) this.slots.release(slot);
    } catch (error) {
      const { agentId } = directory;
      this.options.log.error({ agent_id: agentId, err: error }, 'a VM that failed to start is only partly removed');
    }
  }

  private async bringUp(
    host: VmHost,
    request: VmRequest,
    template: StoredTemplate,
    slot: number,
    signal: AbortSignal,
  ): Promise<{ readonly vm: Vm; readonly timings: Readonly<Record<string, number>> }> {
    const { agentId, executionId, machine, from } = request;
    const directory = this.directory(agentId);
    let record: VmRecord = {
      version: 1,
      agentId,
      executionId,
      phase: 'creating',
      from,
      machine,
      templateId: template.template.id,
      slot,
      address: null,
      process: null,
    };
    await directory.write(record);
    const onSpawned = async (process: ProcessMark): Promise<void> => {
      record = { ...record, process };
      await directory.write(record);
    };
    const plan = { directory, slot, uid: this.options.uidBase + slot, machine, template, from, onSpawned };
    const started = await startVm(host, plan, signal);
    const address = started.namespace.guestAddress;
    try {
      const timings = { ...started.timings };
      await together([this.greet(started, request, timings, signal), directory.syncDisk()]);
      record = { ...record, phase: 'running', address };
      await directory.write(record);
      await directory.syncRecord();
      throwIfAborted(signal);
      this.watch.add({ agentId, executionId, process: started.process, qmp: started.qmp });
      return { vm: { agentId, executionId, address }, timings };
    } catch (error) {
      started.qmp.close();
      throw error;
    }
  }

  /** Waits for the guest's daemon, gives it the time and waits until its machine is the one asked for. */
  private async greet(
    vm: StartedVm,
    { from, machine }: VmRequest,
    timings: Record<string, number>,
    signal: AbortSignal,
  ): Promise<void> {
    const guest = guestClient(vm.namespace.guestAddress);
    const either = AbortSignal.any([signal, endOf(vm)]);
    const started = performance.now();
    const health = await guest.awaitHealth({
      timeoutMs: from === 'clone' ? cloneTimeoutMs : bootTimeoutMs,
      signal: either,
    });
    timings['daemon'] = Math.round(performance.now() - started);
    const wait = { timeoutMs: machineTimeoutMs, signal: either };
    const growing = { qmp: vm.qmp, guest, machine, health };
    // The clock comes before anything the guest times; memory is taken in by its kernel meanwhile.
    await Promise.all([guest.setClock(wait).then(() => awaitVcpus(growing, wait)), awaitMemory(growing, wait)]);
    timings['machine'] = Math.round(performance.now() - started) - timings['daemon'];
  }

  /** Gives the slot that the VM had and nobody has now. */
  private async takeAway(directory: RunDirectory, keepDisk: boolean): Promise<number | null> {
    if (!(await directory.exists())) return null;
    if (keepDisk) await this.quit(directory.agentId);
    const slot = await removeVm({ network: this.options.network, cgroups: this.started() }, directory, keepDisk);
    if (slot !== null) this.slots.release(slot);
    return slot;
  }

  /** Has QEMU write out what it holds of the disk, where it still answers; what does not end by itself is killed after. */
  private async quit(agentId: string): Promise<void> {
    const vm = this.watch.get(agentId);
    if (!vm?.qmp) return;
    await vm.qmp.execute('quit', {}, { timeoutMs: quitTimeoutMs }).catch(() => undefined);
    await awaitExit(vm.process, quitTimeoutMs).catch(() => undefined);
  }

  /** Watches a VM that an earlier control plane made. One that is dead or half made stays as it is: `list` says so. */
  private async adopt(record: VmRecord): Promise<void> {
    const { agentId, executionId, process } = record;
    if (observe(agentId, record).state !== 'running' || !process) return;
    const { log } = this.options;
    const wait = { timeoutMs: adoptTimeoutMs, alive: () => isAlive(process) };
    const qmp = await Qmp.connect(this.directory(agentId).qmpSocket, wait).catch((error: unknown) => {
      log.warn({ agent_id: agentId, err: error }, 'a VM runs but its QEMU does not answer');
      return null;
    });
    this.watch.add({ agentId, executionId, process, qmp });
    log.info({ agent_id: agentId, execution_id: executionId }, 'VM adopted');
  }

  private async observations(agentIds: readonly string[]): Promise<VmObservation[]> {
    const look = async (agentId: string): Promise<VmObservation | null> => {
      const directory = this.directory(agentId);
      const record = await directory.read();
      return record || (await directory.exists()) ? observe(agentId, record) : null;
    };
    return (await Promise.all(agentIds.map(look))).filter((found) => found !== null);
  }

  /** Every run directory's record; null where it cannot be read. */
  private async records(): Promise<Map<string, VmRecord | null>> {
    const names = (await readdir(this.vmsRoot)).filter(isAgentId);
    return new Map(await Promise.all(names.map(async (name) => [name, await this.directory(name).read()] as const)));
  }

  private directory(agentId: string): RunDirectory {
    return new RunDirectory(this.vmsRoot, agentId);
  }

  private started(): Cgroups {
    if (!this.cgroups) throw new VmError('failed', 'the driver was not started');
    return this.cgroups;
  }
}

function observe(agentId: string, record: VmRecord | null): VmObservation {
  const executionId = record?.executionId ?? null;
  const address = record?.address ?? null;
  if (record?.phase === 'disk') return { agentId, executionId, state: 'disk-only', address };
  if (record?.phase !== 'running' || !record.process) return { agentId, executionId, state: 'partial', address };
  return { agentId, executionId, state: isAlive(record.process) ? 'running' : 'dead', address };
}
