/**
 * The QEMU driver: every agent has its own VM on this host.
 *
 * The disk owns all state: a run directory per VM (`run-directory.ts`) and the kernel's own tables. `start` makes the state
 * in memory (running calls, watched processes, taken slots) anew. VMs are detached and outlive this process.
 *
 *   create:  slot and record -> namespace, disk, control group -> QEMU -> record of the process -> device state loaded,
 *            machine sized, running -> daemon answers, clock set, machine complete -> record `running`
 *   from memory: the same; before the device state its pages are laid
 *   save:    frozen -> device state, pages -> a new layer on top of its disk -> goes on -> the saved machine's folder has
 *            its name (`saved/machine/saved-store.ts`)
 *   rest:    frozen -> device state, pages -> the saved machine's folder has its name -> QEMU ended -> all else freed
 *   remove:  record `removing` -> process -> control group -> namespace -> files
 *
 * A kill between any two steps of a create or a removal leaves a directory whose record says `creating` or `removing`.
 * `list` shows it as `partial`, and the next `remove` or `create` takes it away whole. A machine at rest decides: the next
 * `start` frees its VM, and the agent is `suspended`. Before there is one, the frozen VM decides. A VM that is made from it
 * decides once it is whole (`lifecycle/vm-adopt.ts`).
 */
import { join } from 'node:path';
import { restOf, VmError } from '@lodge/ports';
import type {
  DiskUse,
  Template,
  TemplateBuild,
  TemplateRequest,
  Vm,
  VmDriver,
  VmObservation,
  VmRequest,
} from '@lodge/ports';
import { AgentCalls } from '../calls.ts';
import { assertBounded, openCgroups } from './host/cgroup.ts';
import type { Cgroups } from './host/cgroup.ts';
import type { QemuDriverOptions } from './options.ts';
import { openTapDevice } from './machine/device-nodes.ts';
import { passableFolder } from './host/files.ts';
import { BrowserDisks } from './saved/browser-disks.ts';
import { SavedStore } from './saved/machine/saved-store.ts';
import type { RunDirectory } from './saved/run-directory.ts';
import { freeSpaceNow, hostMemory } from './host/capacity.ts';
import { CpuKeeper } from './lifecycle/cpu-keeper.ts';
import { ClockKeeper } from './lifecycle/clock-keeper.ts';
import { collectLeftovers } from './lifecycle/leftovers.ts';
import { takeFormerRests } from './lifecycle/former-rest.ts';
import { lock } from './host/lock.ts';
import { PackKeeper } from './lifecycle/pack-keeper.ts';
import { PageKeeper } from './lifecycle/page-keeper.ts';
import { NetworkKeeper } from './network/index.ts';
import { swapAreas } from './host/swap.ts';
import { VmNumbers } from './host/vm-numbers.ts';
import { setUpZram } from './host/zram.ts';
import { takeTemplates } from './lifecycle/take-templates.ts';
import { SavedVms } from './lifecycle/saved-vms.ts';
import { Templates } from './lifecycle/templates.ts';
import { dialGuest } from './lifecycle/vm-guest.ts';
import { Vms } from './lifecycle/vms.ts';
import { toVmError } from '../waiting.ts';
import { ExitWatch } from './machine/watch.ts';

export function createQemuDriver(options: QemuDriverOptions): VmDriver {
  return new QemuDriver(options);
}

function rethrow(error: unknown, signal?: AbortSignal): never {
  throw toVmError(error, signal);
}

class QemuDriver implements VmDriver {
  readonly brokerHost: string;
  readonly hostMemory = hostMemory;
  readonly getTemplate: VmDriver['getTemplate'] = (id) => this.templates.get(id);
  readonly inspect: VmDriver['inspect'] = (agentId) => this.vms.observe(agentId);
  readonly usage: VmDriver['usage'] = (agentId) => this.vms.usage(agentId);
  readonly death: VmDriver['death'] = (agentId) => this.vms.death(agentId);
  readonly readConsole: VmDriver['readConsole'] = (agentId) => this.vms.readConsole(agentId);
  readonly readRefused: VmDriver['readRefused'] = (agentId) => this.vms.readRefused(agentId);
  readonly guestCredential: VmDriver['guestCredential'] = (agentId, address) =>
    this.vms.guestCredential(agentId, address);
  readonly dial: VmDriver['dial'] = (agentId, port, signal) => dialGuest(this.vms.directory(agentId), port, signal);
  readonly onExit: VmDriver['onExit'] = (listener) => this.watch.onExit(listener);
  // Calls for one agent are served in turn, and a removal ends them. `own` ends with the caller's signal, too.
  readonly pause: VmDriver['pause'] = (agentId, executionId) =>
    this.inTurn(agentId, () => this.vms.pause(agentId, executionId));
  readonly resume: VmDriver['resume'] = (agentId, executionId) =>
    this.inTurn(agentId, (own) => this.vms.resume(agentId, executionId, own));
  readonly rest: VmDriver['rest'] = (agentId, executionId, request, signal) =>
    this.inTurn(agentId, (own) => this.vms.rest(agentId, executionId, request, own), signal);
  readonly carryOver: VmDriver['carryOver'] = (agentId, executionId, data, signal) =>
    this.inTurn(agentId, (own) => this.vms.carryOver(agentId, executionId, data, own), signal);
  readonly resize: VmDriver['resize'] = (agentId, executionId, machine, signal) =>
    this.inTurn(agentId, (own) => this.vms.resize(agentId, executionId, machine, own), signal);
  readonly showBrowser: VmDriver['showBrowser'] = (agentId, executionId) =>
    this.inTurn(agentId, () => this.vms.showBrowser(agentId, executionId));
  readonly setEgress: VmDriver['setEgress'] = (agentId, rules) =>
    this.inTurn(agentId, () => this.vms.setEgress(agentId, rules));
  readonly save: VmDriver['save'] = (agentId, executionId, request, signal) =>
    this.inTurn(agentId, (own) => this.vms.save(agentId, executionId, request, own), signal);
  readonly findSaved: VmDriver['findSaved'] = (id) => this.saved.find(id);
  readonly checkSaved: VmDriver['checkSaved'] = (id, signal) => this.store.check(id, signal);
  readonly readListing: VmDriver['readListing'] = (id) => this.store.listing(id);
  readonly shareSaved: VmDriver['shareSaved'] = (id, signal) => this.saved.share(id, signal);
  readonly copySaved: VmDriver['copySaved'] = (from, to) => this.store.copy(from, to).catch(rethrow);
  readonly dropSaved: VmDriver['dropSaved'] = (id) => this.store.drop(id);
  readonly collectSaved: VmDriver['collectSaved'] = (keep, savedBefore) => this.store.collect(keep, savedBefore);
  private readonly options: QemuDriverOptions;
  private readonly vmsRoot: string;
  private readonly calls = new AgentCalls();
  private readonly slots: VmNumbers;
  private readonly templates: Templates;
  private readonly browserDisks: BrowserDisks;
  private readonly store: SavedStore;
  private readonly saved: SavedVms;
  private readonly watch: ExitWatch;
  private readonly vms: Vms;
  private readonly keeper: NetworkKeeper;
  private readonly clocks: ClockKeeper;
  private readonly processors: CpuKeeper;
  private readonly packing: PackKeeper;
  private readonly paging: PageKeeper;
  private cgroups: Cgroups | null = null;
  private unlock: (() => void) | null = null;

  constructor(options: QemuDriverOptions) {
    this.options = options;
    this.brokerHost = options.network.brokerHost;
    this.vmsRoot = join(options.dataDir, 'vms');
    this.watch = new ExitWatch(options.log);
    this.slots = new VmNumbers(options.network.maxSlots);
    this.templates = new Templates(options, this.slots);
    this.browserDisks = new BrowserDisks(options);
    this.store = new SavedStore(options.dataDir);
    this.saved = new SavedVms({ store: this.store, templates: this.templates });
    this.keeper = new NetworkKeeper(options.network, options.log);
    const { slots, templates, browserDisks, watch } = this;
    const holdStill: ClockKeeper['hold'] = (agentId, signal) => this.clocks.hold(agentId, signal);
    const cgroups = (): Cgroups => this.started();
    const places = { options, root: this.vmsRoot, store: this.store };
    this.vms = new Vms({ ...places, slots, templates, browserDisks, watch, cgroups, holdStill });
    this.processors = new CpuKeeper({ watch, cgroups, log: options.log });
    this.packing = new PackKeeper(this.store, options.log);
    this.paging = this.pageKeeper();
    const setClock = this.vms.setClock.bind(this.vms);
    this.clocks = new ClockKeeper({ watch, setClock, log: options.log });
  }

  async start(): Promise<void> {
    const { dataDir, cacheDir, instance, network, log, unboundMemory = 'refuse', zramMib = 0 } = this.options;
    // Two processes that own the same namespaces would remove each other's.
    this.unlock = await lock(`instance ${instance}`, { timeoutMs: 3000 });
    try {
      const { buildsRoot, own } = this.templates;
      const { root: savedRoot } = this.store;
      const folders = [dataDir, this.vmsRoot, savedRoot, buildsRoot, own.root, cacheDir];
      for (const folder of folders) await passableFolder(folder);
      await own.sweep();
      await this.store.sweep();
      await this.browserDisks.start();
      await this.templates.readPace();
      this.cgroups = await openCgroups(instance);
      assertBounded(this.cgroups, unboundMemory);
      await openTapDevice();
      await network.start();
      if (zramMib > 0) await setUpZram(zramMib, log);
      for (const lack of this.cgroups.missing) log.warn({ ...lack }, 'no limit on VMs from a control group');
      const records = await this.vms.records();
      for (const record of records.values()) if (record?.slot != null) this.slots.keep(record.slot);
      const places = { ...this.options, vmsRoot: this.vmsRoot, buildsRoot };
      await collectLeftovers({ ...places, cgroups: this.cgroups, store: this.templates.cache }, records);
      // A disk that nobody runs is put over its template while it has one name.
      await takeTemplates({ own, vmsRoot: this.vmsRoot, log });
      const takeAway = (directory: RunDirectory): Promise<unknown> => this.vms.takeAway(directory, 'nothing');
      await takeFormerRests({ vmsRoot: this.vmsRoot, store: this.store, takeAway, log });
      const known = [...(await this.vms.records()).values()].filter((record) => record !== null);
      await this.vms.clearUnrecorded();
      await Promise.all(known.map((record) => this.vms.adopt(record)));
      this.keeper.start();
      this.clocks.start();
      this.processors.start();
      this.packing.start();
      this.paging.start();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.calls.end(new VmError('aborted', 'the driver stops'));
    this.keeper.stop();
    this.clocks.stop();
    this.processors.stop();
    this.watch.stop();
    this.options.network.stop();
    await this.browserDisks.stop();
    await this.packing.stop();
    await this.paging.stop();
    await this.cgroups?.close();
    this.unlock?.();
    this.unlock = null;
  }

  get pace(): number {
    return this.templates.pace.value;
  }

  findTemplate(request: TemplateRequest): Promise<Template | null> {
    // A process that did not start the driver, such as doctor, changes nothing.
    return this.cgroups ? this.templates.find(request) : this.templates.look(request);
  }

  async buildTemplate(build: TemplateBuild, signal: AbortSignal): Promise<Template> {
    return this.templates.build(build, this.started(), signal);
  }

  async create(request: VmRequest, signal: AbortSignal): Promise<Vm> {
    const { agentId, executionId } = request;
    this.paging.disturb(agentId);
    this.calls.supersede(agentId, executionId);
    const work = async (own: AbortSignal): Promise<Vm> => {
      try {
        return (await this.vms.existing(request, own)) ?? (await this.vms.make(request, own));
      } catch (error) {
        throw toVmError(error, own);
      }
    };
    return this.calls.run(agentId, { creates: executionId, signal, work });
  }

  async collectTemplates(keep: ReadonlySet<string>): Promise<readonly string[]> {
    const { templates, browserDisks } = await this.vms.needed();
    await this.browserDisks.collect(new Set(browserDisks));
    return this.templates.collect(new Set([...keep, ...templates]));
  }

  async list(): Promise<VmObservation[]> {
    const found = await Promise.all((await this.vms.allAgentIds()).map((agentId) => this.vms.observe(agentId)));
    return found.filter((observation) => observation !== null);
  }

  async remove(agentId: string, { keepDisk, keepRest = false }: Parameters<VmDriver['remove']>[1]): Promise<void> {
    this.paging.disturb(agentId);
    this.calls.void(agentId, new VmError('aborted', `${agentId} is being removed`));
    const work = async (): Promise<void> => {
      await this.vms.takeAway(this.vms.directory(agentId), keepDisk ? 'disk' : 'nothing');
      if (!keepDisk && !keepRest) await this.store.drop(restOf(agentId));
    };
    await this.calls.run(agentId, { creates: null, work });
  }

  async hostDisk(): Promise<{ readonly totalMib: number; readonly freeMib: number }> {
    return freeSpaceNow(this.options.dataDir);
  }

  async diskUse(of: 'all' | 'running'): Promise<readonly DiskUse[]> {
    return of === 'all' ? this.vms.diskUse() : this.vms.diskUseOfRunning();
  }

  /** Serves a call that a removal ends. */
  private async inTurn<T>(agentId: string, work: (own: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const own = (ends: AbortSignal): Promise<T> => work(ends).catch((error: unknown) => rethrow(error, ends));
    this.paging.disturb(agentId);
    return this.calls.run(agentId, { creates: null, yields: true, ...(signal ? { signal } : {}), work: own });
  }

  private pageKeeper(): PageKeeper {
    const { calls, vms, watch, options } = this;
    return new PageKeeper({
      watch,
      afterMs: options.pageOutAfterMs ?? 0,
      hasSwap: async () => (await swapAreas()).length > 0,
      whilePaused: (vm, work) =>
        calls.run(vm.agentId, { creates: null, yields: true, work: (ends) => vms.whilePaused(vm, () => work(ends)) }),
      pageOut: ({ agentId }, ends) => this.started().pageOut(agentId, ends),
      log: options.log,
    });
  }

  private started(): Cgroups {
    if (!this.cgroups) throw new VmError('failed', 'the driver was not started');
    return this.cgroups;
  }
}
