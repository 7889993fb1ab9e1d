/** The driver's VMs, one at a time: the caller serves calls for one agent in turn. A VM's state is its run directory. */
import { readdir } from 'node:fs/promises';
import type { EgressRules, VmDeath } from '@lodge/domain';
import { ifThere } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { BrowserShown, CarriedData, DiskUse, Machine, RuntimeFacts, Suspension } from '@lodge/ports';
import type { SaveRequest, Saving } from '@lodge/ports';
import type { Vm, VmObservation, VmRequest, VmUsage } from '@lodge/ports';
import { Backups, assertRoom } from '../saved/backups.ts';
import type { Cgroups } from '../host/cgroup.ts';
import type { QemuDriverOptions } from '../options.ts';
import { settleLayers } from '../machine/disk-layers.ts';
import { loadData, saveData } from '../saved/guest-data.ts';
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
import { removeVm } from './vm-remove.ts';
import type { Kept } from './vm-remove.ts';
import { resizeVm } from './vm-resize.ts';
import { writeSnapshot } from './vm-suspend.ts';
import { adoptVm } from './vm-adopt.ts';
import { diskUseNow, diskUseOf, usageOf } from './vm-usage.ts';
import { savedBefore, saveRunning } from './vm-save.ts';
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
  private readonly backups: Backups;
  private readonly connections = new Connections((agentId) => this.directory(agentId));
  private readonly answers: Answers<LivingState>;

  constructor(parts: VmsParts) {
    this.parts = parts;
    this.backups = new Backups(parts.root);
    this.answers = new Answers((vm) => askState(this.connections, vm), parts.options.log);
  }

  directory(agentId: string): RunDirectory {
    return new RunDirectory(this.parts.root, agentId);
  }

  async agentIds(): Promise<string[]> {
    const there = (await readdir(this.parts.root)).filter(isAgentId);
    return [...new Set([...there, ...(await this.backups.agentIds())])];
  }

  /** Every run directory's record; null where it cannot be read. */
  async records(): Promise<Map<string, VmRecord | null>> {
    const names = await this.agentIds();
    return new Map(await Promise.all(names.map(async (name) => [name, await this.directory(name).read()] as const)));
  }

  /** Templates that VMs, disks and snapshots lie over, and disks of the browser that their guests know. */
  async needed(): Promise<{ readonly templates: readonly string[]; readonly browserDisks: readonly string[] }> {
    const records = [...(await this.records()).values(), ...(await this.backups.records())];
    const saved = await this.parts.store.manifests();
    return {
      templates: [...records, ...saved].flatMap((each) => each?.templateId ?? []),
      browserDisks: [...records, ...saved.map(({ memory }) => memory)].flatMap((each) => each?.browser ?? []),
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
    return this.onVm(agentId, executionId, async ({ directory, guest, qmp }) => {
      // A suspend that was cut short after its write left this snapshot, which is out of date from here on.
      await directory.snapshot.useUp();
      await qmp.execute('cont');
      // This call waits: work that begins by the old clock would see hours pass at once when it is set, and give up.
      await setGuestClock(guest, { timeoutMs: clockTimeoutMs * guest.pace, signal });
      await directory.snapshot.sweep();
    });
  }

  /** Sets the clock of a running VM beside its other calls, so that a guest that does not answer delays none of them. */
  async setClock({ agentId, executionId }: Watched, goOn: boolean, signal: AbortSignal): Promise<void> {
    await this.onVm(agentId, executionId, async ({ guest, qmp }) => {
      const { running } = await runState(qmp);
      if (running) await setGuestClock(guest, { timeoutMs: clockTimeoutMs * guest.pace, signal, goOn });
    });
  }

  async suspend(
    agentId: string,
    executionId: string,
    { facts, data }: { readonly facts: RuntimeFacts; readonly data?: CarriedData },
    signal: AbortSignal,
  ): Promise<Suspension> {
    const there = await this.directory(agentId).read();
    if (there?.phase === 'suspended' && there.executionId === executionId) {
      return { bytes: await this.directory(agentId).snapshot.diskBytes(), ms: 0 };
    }
    return this.onVm(
      agentId,
      executionId,
      async (vm) => {
        const { directory, record, process, qmp, guest } = vm;
        const { options, templates } = this.parts;
        const state = await templates.stateOf(record.templateId, record.browser !== undefined);
        const uid = options.uidBase + record.slot!;
        const writeData =
          data &&
          ((path: string): Promise<void> => saveData(guest, { ...data, floorMib: options.diskFloorMib }, path, signal));
        const about = { directory, record, process, uid, ...state, facts, ...(writeData && { writeData }) };
        const work = { ...about, qmp, guest, log: options.log };
        const letGo = await this.parts.holdStill(agentId, signal);
        const { timings, ...suspension } = await writeSnapshot(work, signal).finally(letGo);
        const written = performance.now();
        await this.release(directory, process, qmp);
        const ms = { ...timings, release: Math.round(performance.now() - written) };
        options.log.info({ agent_id: agentId, bytes: suspension.bytes, ms }, 'VM suspended');
        return suspension;
      },
      signal,
    );
  }

  /** Saves a VM and lets it go on as it was. */
  async save(agentId: string, executionId: string, request: SaveRequest, signal: AbortSignal): Promise<Saving> {
    const { options, store, templates, holdStill } = this.parts;
    const directory = this.directory(agentId);
    const work = async (vm: Running): Promise<Saving> => {
      const { templateId, browser, slot } = vm.record;
      const state = await templates.stateOf(templateId, browser !== undefined);
      const bounds = { uid: options.uidBase + slot!, clockTimeoutMs: clockTimeoutMs * vm.guest.pace };
      const letGo = await holdStill(agentId, signal);
      return saveRunning({ ...vm, ...state, ...bounds, log: options.log, store, request }, signal).finally(letGo);
    };
    const before = await savedBefore({ directory, store }, executionId, request);
    return before ?? this.onVm(agentId, executionId, work, signal);
  }

  async backUp(
    agentId: string,
    executionId: string,
    kept: { readonly facts: RuntimeFacts; readonly data: CarriedData },
    signal: AbortSignal,
  ): Promise<Suspension> {
    const backup = this.backups.directory(agentId);
    if ((await this.backups.executionOf(agentId)) === executionId) {
      return { bytes: await backup.snapshot.diskBytes(), ms: 0 };
    }
    const directory = this.directory(agentId);
    const { diskMib, memoryMib } = await usageOf(directory, await directory.read(), this.parts.options.network);
    await assertRoom(directory, { diskMib, memoryMib, floorMib: this.parts.options.diskFloorMib });
    const suspension = await this.suspend(agentId, executionId, kept, signal);
    await this.backups.put(directory);
    return suspension;
  }

  carryOver(agentId: string, executionId: string, data: CarriedData, signal: AbortSignal): Promise<void> {
    const { dataPath } = this.backups.directory(agentId).snapshot;
    const work = (vm: Running): Promise<void> => loadData(vm.guest, data, dataPath, signal);
    return this.onVm(agentId, executionId, work, signal);
  }

  rollBack(agentId: string): Promise<void> {
    const directory = this.directory(agentId);
    return this.backups.rollBack(directory, () => this.takeAway(directory, 'nothing'));
  }

  dropBackup(agentId: string): Promise<void> {
    return this.backups.drop(agentId);
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
    if (!record && !(await directory.exists())) return null;
    return usageOf(directory, record, this.parts.options.network);
  }

  /** Reads one at a time: an engine that looks often must not take all threads from others. */
  async diskUse(): Promise<readonly DiskUse[]> {
    const found: DiskUse[] = [];
    for (const agentId of (await ifThere(this.agentIds())) ?? [])
      found.push(await diskUseOf(this.directory(agentId), this.parts.watch.get(agentId)));
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
    const slot = await removeVm({ network: options.network, cgroups: cgroups() }, directory, keep);
    if (slot !== null) slots.release(slot);
    return slot;
  }

  /** Takes over a VM that an earlier control plane made (`vm-adopt.ts`). */
  async adopt(record: VmRecord): Promise<void> {
    const directory = this.directory(record.agentId);
    const { backups, answers, parts } = this;
    const takeAway = (): Promise<unknown> => this.takeAway(directory, 'snapshot');
    await adoptVm({ ...parts, directory, backups, answers, cgroups: parts.cgroups(), takeAway }, record);
  }

  /** Returns null when nothing of the agent is here. */
  async observe(agentId: string): Promise<VmObservation | null> {
    const directory = this.directory(agentId);
    const record = await directory.read();
    const backup = await this.backups.executionOf(agentId);
    if (!record && backup === null && !(await directory.exists())) return null;
    const { state, ...more } = await this.stateOf(directory, record);
    const address = state === 'suspended' ? null : (record?.address ?? null);
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
    if (record?.phase === 'suspended') return { state: 'suspended' };
    if (record?.phase !== 'running' || !record.process) return { state: 'partial' };
    // A suspend reaches its end with the snapshot, although something may still have to be cleared away.
    if (!isAlive(record.process)) return { state: (await directory.snapshot.exists()) ? 'suspended' : 'dead' };
    const vm = this.parts.watch.get(directory.agentId);
    // Its create is about to end.
    if (vm?.executionId !== record.executionId) return { state: 'partial' };
    const answer = await this.answers.of(vm);
    if ('value' in answer) return answer.value;
    if (isAlive(record.process)) return { state: 'unresponsive', why: answer.silent };
    // The VM ended during the question: by itself, or because it has been suspended or removed.
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

  /** Ends the VM after the snapshot is on the disk (its stop wrote the VM's disk out), and frees its resources. */
  private async release(directory: RunDirectory, process: ProcessMark, qmp: Qmp): Promise<void> {
    this.parts.watch.get(directory.agentId)?.witness.expectEnd();
    await qmp.execute('quit', {}, { timeoutMs: quitTimeoutMs }).catch(() => undefined);
    await awaitExit(process, quitTimeoutMs).catch(() => kill(process));
    await this.takeAway(directory, 'snapshot');
  }

  /** Makes QEMU write its disk out, if it still answers. A process that does not end by itself is killed afterwards. */
  private async quit(agentId: string): Promise<void> {
    const vm = this.parts.watch.get(agentId);
    if (!vm?.qmp?.isOpen || this.answers.isSilent(vm)) return;
    await vm.qmp.execute('quit', {}, { timeoutMs: quitTimeoutMs }).catch(() => undefined);
    await awaitExit(vm.process, quitTimeoutMs).catch(() => undefined);
  }
}
