/** The driver's VMs, one at a time: the caller serves calls for one agent in turn. A VM's state is its run directory. */
import { readdir } from 'node:fs/promises';
import type { EgressRules, VmDeath } from '@lodge/domain';
import { ifThere } from '@lodge/domain';
import { restOf, VmError } from '@lodge/ports';
import type { BrowserShown, CarriedData, DiskUse, Machine } from '@lodge/ports';
import type { RestRequest, SaveRequest, Saving } from '@lodge/ports';
import type { Vm, VmObservation, VmRequest, VmUsage } from '@lodge/ports';
import type { Cgroups } from '../host/cgroup.ts';
import type { QemuDriverOptions } from '../options.ts';
import { settleLayers } from '../machine/disk-layers.ts';
import { assertUpgradeRoom, loadData } from '../saved/guest-data.ts';
import type { SavedStore } from '../saved/machine/saved-store.ts';
import { assertMachine } from '../machine/hotplug.ts';
import { awaitExit, isAlive, kill } from '../host/process.ts';
import type { ProcessMark } from '../host/process.ts';
import type { Qmp } from '../machine/qmp.ts';
import { isAgentId, RunDirectory, type VmRecord } from '../saved/run-directory.ts';
import type { VmNumbers } from '../host/vm-numbers.ts';
import type { BrowserDisks } from '../saved/browser-disks.ts';
import type { Templates } from './templates.ts';
import { guestOf, setGuestClock } from './vm-guest.ts';
import { deathOf } from './vm-death.ts';
import { showBrowser } from './vm-browser.ts';
import { makeVm } from './vm-make.ts';
import { refusedOf } from './vm-refused.ts';
import type { Refused } from './vm-refused.ts';
import { removeVm, worthKeeping } from './vm-remove.ts';
import type { Kept } from './vm-remove.ts';
import { resizeVm } from './vm-resize.ts';
import { adoptVm } from './vm-adopt.ts';
import { diskUseNow, diskUseOf, diskUseAtRest, usageAtRest, usageOf } from './vm-usage.ts';
import { savedBefore, saveRunning, saveToRest, sizesOf } from './vm-save.ts';
import type { SavedVm } from './vm-save.ts';
import { toVmError } from '../../waiting.ts';
import { askState, awaitEnding, Connections, runState } from './connections.ts';
import { Answers } from './answers.ts';
import type { LivingState } from './connections.ts';
import type { ExitWatch, Watched } from '../machine/watch.ts';

const quitTimeoutMs = 15_000;
/** Multiplied by the host's pace: a guest that went on takes it in milliseconds; a lost packet costs a second. */
const clockTimeoutMs = 10_000;

/** The VM that a call is for, found running or paused. */
interface Running {
  readonly directory: RunDirectory;
  readonly record: VmRecord;
  readonly process: ProcessMark;
  readonly guest: ReturnType<typeof guestOf>;
  readonly qmp: Qmp;
}

export interface VmsParts {
  readonly options: QemuDriverOptions;
  readonly root: string;
  readonly slots: VmNumbers;
  readonly templates: Templates;
  readonly browserDisks: BrowserDisks;
  readonly store: SavedStore;
  readonly watch: ExitWatch;
  readonly cgroups: () => Cgroups;
  /** Prevents that agent's guest from going on until the returned function is called (`ClockKeeper.hold`). */
  readonly holdStill: (agentId: string, signal: AbortSignal) => Promise<() => void>;
}

export class Vms {
  private readonly parts: VmsParts;
  private readonly connections = new Connections((agentId) => this.directory(agentId));
  private readonly answers: Answers<LivingState>;

  constructor(parts: VmsParts) {
    this.parts = parts;
    this.answers = new Answers((vm) => askState(this.connections, vm), parts.options.log);
  }

  directory(agentId: string): RunDirectory {
    return new RunDirectory(this.parts.root, agentId);
  }

  async agentIds(): Promise<string[]> {
    return (await readdir(this.parts.root)).filter(isAgentId);
  }

  /** Agents with a VM, or with one at rest. */
  async allAgentIds(): Promise<string[]> {
    return [...new Set([...(await this.agentIds()), ...(await this.parts.store.restedAgents())])];
  }

  /** Every run directory's record; null where it cannot be read. */
  async records(): Promise<Map<string, VmRecord | null>> {
    const names = await this.agentIds();
    return new Map(await Promise.all(names.map(async (name) => [name, await this.directory(name).read()] as const)));
  }

  /** Templates that VMs, disks and saved machines lie over, and disks of the browser that their guests know. */
  async needed(): Promise<{ readonly templates: readonly string[]; readonly browserDisks: readonly string[] }> {
    const { store } = this.parts;
    const saved = await Promise.all((await store.ids()).map((id) => store.facts(id)));
    const all = [...(await this.records()).values(), ...saved];
    return {
      templates: all.flatMap((each) => each?.templateId ?? []),
      browserDisks: all.flatMap((each) => each?.browser ?? []),
    };
  }

  /** The VM of exactly this execution, if it runs already. */
  async existing({ agentId, executionId }: VmRequest, signal: AbortSignal): Promise<Vm | null> {
    const record = await this.directory(agentId).read();
    if (record?.executionId !== executionId || record.phase !== 'running') return null;
    const found = await this.observe(agentId);
    // The VM may be whole, so the caller looks again.
    if (found?.state === 'unresponsive') throw new VmError('timeout', `the VM does not answer: ${found.why}`);
    if (found?.state === 'paused') await this.resume(agentId, executionId, signal);
    else if (found?.state !== 'running') return null;
    const { address, machine, facts } = record;
    return { agentId, executionId, address: address!, machine, facts };
  }

  make(request: VmRequest, signal: AbortSignal): Promise<Vm> {
    const directory = this.directory(request.agentId);
    const takeAway = (keep: Kept): Promise<number | null> => this.takeAway(directory, keep);
    return makeVm({ ...this.parts, cgroups: this.parts.cgroups(), directory, takeAway }, request, signal);
  }

  async pause(agentId: string, executionId: string): Promise<void> {
    const watched = this.parts.watch.get(agentId);
    // The fast path: a thread reads a record, and it waits where the disk is busy.
    if (watched?.executionId === executionId && watched.qmp?.isOpen) {
      const done = await watched.qmp.execute('stop').then(
        () => true,
        () => false,
      );
      if (done) return;
    }
    await this.onVm(agentId, executionId, async ({ qmp }) => {
      await qmp.execute('stop');
    });
  }

  resume(agentId: string, executionId: string, signal: AbortSignal): Promise<void> {
    return this.onVm(agentId, executionId, async ({ guest, qmp }) => {
      await qmp.execute('cont');
      // This call waits: work that begins by the old clock would see hours pass at once when it is set, and give up.
      await setGuestClock(guest, { timeoutMs: clockTimeoutMs * guest.pace, signal });
    });
  }

  /** Sets the clock of a running VM beside its other calls, so that a guest that does not answer delays none of them. */
  async setClock({ agentId, executionId }: Watched, goOn: boolean, signal: AbortSignal): Promise<void> {
    await this.onVm(agentId, executionId, async ({ guest, qmp }) => {
      const { running } = await runState(qmp);
      if (running) await setGuestClock(guest, { timeoutMs: clockTimeoutMs * guest.pace, signal, goOn });
    });
  }

  /** Does the work if the VM stands still because it is paused. Resolves with whether it does. */
  async whilePaused({ agentId, executionId }: Watched, work: () => Promise<void>): Promise<boolean> {
    return this.onVm(agentId, executionId, async ({ qmp }) => {
      const isPaused = (await runState(qmp)).status === 'paused';
      if (isPaused) await work();
      return isPaused;
    });
  }

  /** Saves a VM and lets it go on as it was. */
  async save(agentId: string, executionId: string, request: SaveRequest, signal: AbortSignal): Promise<Saving> {
    const { store } = this.parts;
    const before = await savedBefore({ directory: this.directory(agentId), store }, executionId, request);
    const work = (vm: SavedVm): Promise<Saving> => saveRunning(vm, request, signal);
    return before ?? this.whileHeld(agentId, executionId, work, signal);
  }

  /** Saves a VM as the agent's machine at rest, and frees it. */
  async rest(agentId: string, executionId: string, request: RestRequest, signal: AbortSignal): Promise<Saving> {
    const { store, options } = this.parts;
    const directory = this.directory(agentId);
    const there = await store.rest(agentId);
    if (there?.executionId === executionId) {
      await this.takeAway(directory, 'nothing');
      return { ...(await sizesOf(store, (await store.manifest(restOf(agentId)))!)), ms: 0 };
    }
    // The one that it was started from is not freed yet.
    if (there && (await directory.read())?.isOverRest) await store.drop(restOf(agentId));
    else if (there) throw new VmError('failed', `${agentId} has a machine at rest, in whose place this one is made`);
    const { diskFloorMib: floorMib } = options;
    if (request.data) {
      const { diskMib, memoryMib, swappedMib } = await usageOf(directory, await directory.read(), options.network);
      await assertUpgradeRoom(directory.path, { diskMib, memoryMib: memoryMib + swappedMib, floorMib });
    }
    const work = async (vm: SavedVm): Promise<Saving> => {
      const saving = await saveToRest(vm, request, floorMib, signal);
      const written = performance.now();
      // The machine at rest is the agent by now: the rest of this one is cleared away by whoever comes next.
      await this.release(directory, vm.process, vm.qmp).catch((error: unknown) => {
        options.log.error({ agent_id: agentId, err: error }, 'a VM at rest is only partly freed');
      });
      options.log.info({ agent_id: agentId, release_ms: Math.round(performance.now() - written) }, 'VM at rest');
      return saving;
    };
    return this.whileHeld(agentId, executionId, work, signal);
  }

  async carryOver(agentId: string, executionId: string, data: CarriedData, signal: AbortSignal): Promise<void> {
    const path = await this.parts.store.dataPath(agentId);
    return this.onVm(agentId, executionId, (vm) => loadData(vm.guest, data, path, signal), signal);
  }

  /** Saves a VM, whose clock nobody sets meanwhile. */
  private whileHeld(
    agentId: string,
    executionId: string,
    work: (vm: SavedVm) => Promise<Saving>,
    signal: AbortSignal,
  ): Promise<Saving> {
    const { options, store, templates, holdStill } = this.parts;
    const held = async (vm: Running): Promise<Saving> => {
      const { templateId, browser, slot } = vm.record;
      const state = await templates.stateOf(templateId, browser !== undefined);
      const bounds = { uid: options.uidBase + slot!, clockTimeoutMs: clockTimeoutMs * vm.guest.pace };
      const letGo = await holdStill(agentId, signal);
      return work({ ...vm, ...state, ...bounds, log: options.log, store }).finally(letGo);
    };
    return this.onVm(agentId, executionId, held, signal);
  }

  async resize(agentId: string, executionId: string, machine: Machine, signal: AbortSignal): Promise<Machine> {
    assertMachine(machine);
    const { options, templates, cgroups } = this.parts;
    const fit = async (vm: Running): Promise<Machine> => {
      if (!(await runState(vm.qmp)).running) throw new VmError('failed', `${agentId} is paused and cannot be sized`);
      const accelerator = await templates.accelerator(vm.record.templateId);
      return resizeVm({ ...vm, cgroups: cgroups(), accelerator, options }, machine, signal);
    };
    return this.onVm(agentId, executionId, fit, signal);
  }

  showBrowser(agentId: string, executionId: string): Promise<BrowserShown> {
    return this.onVm(agentId, executionId, (vm) => showBrowser(vm, this.parts.browserDisks));
  }

  async guestCredential(agentId: string, address: string): Promise<string | null> {
    const record = await this.directory(agentId).read();
    return record?.address === address ? (record.credential ?? null) : null;
  }

  async usage(agentId: string): Promise<VmUsage | null> {
    const directory = this.directory(agentId);
    const record = await directory.read();
    if (record || (await directory.exists())) return usageOf(directory, record, this.parts.options.network);
    return usageAtRest(this.parts.store, agentId);
  }

  /** Reads one at a time: an engine that looks often must not take all threads from others. */
  async diskUse(): Promise<readonly DiskUse[]> {
    const found: DiskUse[] = [];
    const there = new Set(await ifThere(this.agentIds()));
    for (const agentId of there) found.push(await diskUseOf(this.directory(agentId), this.parts.watch.get(agentId)));
    for (const agentId of await this.parts.store.restedAgents())
      if (!there.has(agentId)) found.push(await diskUseAtRest(this.parts.store, agentId));
    return found;
  }

  diskUseOfRunning(): readonly DiskUse[] {
    return this.parts.watch.all().map((vm) => diskUseNow(this.directory(vm.agentId), vm));
  }

  async readConsole(agentId: string): Promise<string> {
    const vm = this.parts.watch.get(agentId);
    if (!vm || !isAlive(vm.process)) return '';
    return vm.witness.readConsole(await this.connections.of(vm));
  }

  async death(agentId: string): Promise<VmDeath | null> {
    const { watch, cgroups } = this.parts;
    const places = { directory: this.directory(agentId), watch, cgroups: cgroups() };
    return deathOf(await this.observe(agentId), places);
  }

  async setEgress(agentId: string, rules: EgressRules): Promise<void> {
    const slot = await this.slotOf(agentId);
    if (slot !== null) await this.parts.options.network.setEgress(slot, rules);
  }

  readRefused(agentId: string): Promise<Refused> {
    const pid = this.parts.watch.get(agentId)?.process.pid;
    return refusedOf(this.parts.options.network, pid, () => this.slotOf(agentId));
  }

  /** Returns the VM's former slot, which nobody has now. */
  async takeAway(directory: RunDirectory, keep: Kept): Promise<number | null> {
    if (!(await directory.exists())) return null;
    this.parts.watch.get(directory.agentId)?.witness.expectEnd();
    if (keep !== 'nothing') await this.quit(directory.agentId);
    const { options, cgroups, slots } = this.parts;
    const slot = await removeVm(
      { network: options.network, cgroups: cgroups() },
      directory,
      await worthKeeping(directory, keep, this.parts.store),
    );
    if (slot !== null) slots.release(slot);
    return slot;
  }

  /** Removes folders of VMs at rest that have no record any more, or not yet: the record comes first, and goes last. */
  async clearUnrecorded(): Promise<void> {
    for (const agentId of await this.parts.store.restedAgents()) {
      const directory = this.directory(agentId);
      if ((await directory.read()) === null) await this.takeAway(directory, 'nothing');
    }
  }

  /** Takes over a VM that an earlier control plane made (`vm-adopt.ts`). */
  async adopt(record: VmRecord): Promise<void> {
    const directory = this.directory(record.agentId);
    const { answers, parts } = this;
    const takeAway = (): Promise<unknown> => this.takeAway(directory, 'nothing');
    await adoptVm({ ...parts, directory, answers, cgroups: parts.cgroups(), takeAway }, record);
  }

  /** Returns null when nothing of the agent is here. */
  async observe(agentId: string): Promise<VmObservation | null> {
    const directory = this.directory(agentId);
    const [record, rest] = await Promise.all([directory.read(), this.parts.store.rest(agentId)]);
    // A machine at rest decides, although its VM may still have to be cleared away.
    if (rest && (record === null || record.executionId === rest.executionId)) {
      return { agentId, executionId: rest.executionId, state: 'suspended', address: null, backup: null };
    }
    if (record === null && !(await directory.exists())) return null;
    const { state, ...more } = await this.stateOf(directory, record);
    const backup = rest && !record?.isOverRest ? rest.executionId : null;
    const address = record?.address ?? null;
    return { agentId, executionId: record?.executionId ?? null, state, address, backup, ...more };
  }

  /** The slot that the agent's VM has, or is about to have. */
  private async slotOf(agentId: string): Promise<number | null> {
    return (await this.directory(agentId).read())?.slot ?? null;
  }

  private async stateOf(
    directory: RunDirectory,
    record: VmRecord | null,
  ): Promise<Pick<VmObservation, 'state' | 'halted' | 'why'>> {
    if (record?.phase === 'disk') return { state: 'disk-only' };
    if (record?.phase !== 'running' || !record.process) return { state: 'partial' };
    if (!isAlive(record.process)) return { state: 'dead' };
    const vm = this.parts.watch.get(directory.agentId);
    // Its create is about to end.
    if (vm?.executionId !== record.executionId) return { state: 'partial' };
    const answer = await this.answers.of(vm);
    if ('value' in answer) return answer.value;
    if (isAlive(record.process)) return { state: 'unresponsive', why: answer.silent };
    // The VM ended during the question: by itself, or because it was removed.
    return this.stateOf(directory, await directory.read());
  }

  /** Does something to the VM of exactly that execution. Rejects with `gone` when it is not there, or ends meanwhile. */
  private async onVm<T>(
    agentId: string,
    executionId: string,
    work: (vm: Running) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const gone = (cause?: unknown): VmError =>
      new VmError('gone', `execution ${executionId} of ${agentId} does not run here`, { cause });
    const directory = this.directory(agentId);
    const record = await directory.read();
    const vm = this.parts.watch.get(agentId);
    if (record?.executionId !== executionId || record.phase !== 'running' || !record.address) throw gone();
    if (!vm || vm.executionId !== executionId || !isAlive(vm.process)) throw gone();
    try {
      const qmp = await this.connections.of(vm);
      await settleLayers(qmp, directory.disk);
      return await work({ directory, record, process: vm.process, guest: guestOf(record, this.parts.templates), qmp });
    } catch (error) {
      await awaitEnding(vm, signal);
      throw isAlive(vm.process) || signal?.aborted ? toVmError(error, signal) : gone(error);
    }
  }

  /** Ends a VM that is saved (its stop wrote the VM's disk out), and frees its resources. */
  private async release(directory: RunDirectory, process: ProcessMark, qmp: Qmp): Promise<void> {
    this.parts.watch.get(directory.agentId)?.witness.expectEnd();
    await qmp.execute('quit', {}, { timeoutMs: quitTimeoutMs }).catch(() => undefined);
    await awaitExit(process, quitTimeoutMs).catch(() => kill(process));
    await this.takeAway(directory, 'nothing');
  }

  /** Makes QEMU write its disk out, if it still answers. A process that does not end by itself is killed afterwards. */
  private async quit(agentId: string): Promise<void> {
    const vm = this.parts.watch.get(agentId);
    if (!vm?.qmp?.isOpen || this.answers.isSilent(vm)) return;
    await vm.qmp.execute('quit', {}, { timeoutMs: quitTimeoutMs }).catch(() => undefined);
    await awaitExit(vm.process, quitTimeoutMs).catch(() => undefined);
  }
}
