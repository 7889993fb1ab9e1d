/**
 * A host that exists in memory only, for tests of the code that drives VMs. It outlives the drivers over it, as a real host
 * outlives its control plane, and fails where a test says so.
 */
import type { EgressRules, VmDeath, VmDeathCode } from '@lodge/domain';
import { restOf, VmError } from '@lodge/ports';
import type {
  BrowserShown,
  DiskUse,
  FromSaved,
  Machine,
  RefusedConnection,
  RuntimeFacts,
  SavedMachine,
  SaveRequest,
  Template,
  TemplateBuild,
} from '@lodge/ports';
import type { VmErrorCode, VmUsage } from '@lodge/ports';

/** The steps of a clone or a boot, in order. A driver that is killed before one of them leaves a partial VM. */
export const fakeSteps = ['disk', 'start', 'daemon', 'machine'] as const;
/** The steps of a start with the memory of a saved machine. */
export const fakeMemorySteps = ['check', 'start', 'load', 'daemon', 'machine'] as const;
/** The steps to rest. Before `freeze` the VM runs, before `save` it is paused, and before `release` there is the machine at rest. */
export const fakeRestSteps = ['freeze', 'save', 'release'] as const;
/**
 * The steps of a save that lets the VM go on. Before `still` it is as it was, before `keep` it stands still, and after that it
 * goes on and there is the saved machine.
 */
export const fakeSaveSteps = ['still', 'keep'] as const;
/** The steps to rest with the guest's data: before `collect` the VM runs. */
export const fakeUpgradeSteps = ['collect', ...fakeRestSteps] as const;
/** `pause`, `resume`, `resize`, `restrict`, `carry` (over) and `drop` (a machine at rest) are one step each. */
export type FakeStep =
  | (typeof fakeSteps)[number]
  | (typeof fakeMemorySteps)[number]
  | (typeof fakeUpgradeSteps)[number]
  | (typeof fakeSaveSteps)[number]
  | 'share'
  | 'copy'
  | 'carry'
  | 'drop'
  | 'pause'
  | 'resume'
  | 'resize'
  | 'restrict';

/** The behaviour at a step: it resolves to go on and rejects to fail. It ends early when the signal fires. */
export type FakeBehaviour = (
  step: FakeStep,
  call: { readonly agentId: string; readonly executionId: string },
  signal: AbortSignal,
) => Promise<void>;

/** A guest: files survive a boot, memory does not. */
export interface FakeGuest {
  readonly files: Map<string, string>;
  readonly memory: Map<string, string>;
}

/** A saved machine. */
export interface FakeSaved extends Pick<SavedMachine, 'id' | 'agentId' | 'executionId' | 'templateId' | 'machine'> {
  readonly files: ReadonlyMap<string, string>;
  readonly memory: ReadonlyMap<string, string> | null;
  readonly facts: RuntimeFacts | null;
  readonly listing: string | null;
  /** The data that goes along to the VM in its place; null where it is none of an upgrade. */
  readonly data: ReadonlyMap<string, string> | null;
  readonly savedAt: Date;
  /** When it got its id. */
  readonly madeAt: Date;
  /** Why it is not as it was saved; null while it is. */
  damaged: string | null;
}

export interface FakeVm {
  readonly agentId: string;
  executionId: string;
  phase: 'creating' | 'running' | 'disk';
  alive: boolean;
  /** Meaningful only while the VM is alive. */
  paused: boolean;
  address: string | null;
  /** The credential by which the daemon in its guest knows the host. */
  credential: string | null;
  machine: Machine;
  templateId: string;
  /** The facts of the memory that it was started from. */
  facts: RuntimeFacts | null;
  guest: FakeGuest;
  /** The saved machine whose memory it has not loaded yet. */
  loading: Pick<FakeSaved, 'memory' | 'facts'> | null;
  /** Whether it was made from the agent's machine at rest, whose place it takes once it is whole. */
  overRest: boolean;
  /** Output that nobody has read yet. */
  console: string;
  /** Why it ended, once it has. */
  death: VmDeath | null;
  /** Why it stands still although nobody paused it. */
  halted: VmDeathCode | null;
  /** Why its emulator does not report its state, as long as it does not. */
  silent: string | null;
  /** The rules on its network, which exists as long as the VM is alive. */
  egress: EgressRules;
  /** Whether its guest sees the browser's disk. */
  seesBrowser: boolean;
  /** Whether its guest's processes stay frozen. */
  still: boolean;
  /** Connections that its rules refused and nobody has read yet. */
  refused: RefusedConnection[];
}

export interface FakeTemplate extends Template {
  readonly guest: FakeGuest;
}

export class FakeHost {
  brokerHost = '192.0.2.1';
  /** `VmDriver.pace` of its drivers. */
  pace = 1;
  readonly vms = new Map<string, FakeVm>();
  readonly saved = new Map<string, FakeSaved>();
  /** Whether the memory of saved machines cannot be loaded here, as after a change of the host. */
  isForeign = false;
  /** Guests of templates in the making. */
  readonly builds = new Set<FakeVm>();
  readonly templates = new Map<string, FakeTemplate>();
  readonly exits = new Set<(exit: { agentId: string; executionId: string }) => void>();
  memory = { totalMib: 65_536, availableMib: 60_000 };
  /** The file system that all disks share, MiB. */
  disk = { totalMib: 1_000_000, freeMib: 800_000 };
  behaviour: FakeBehaviour = () => Promise.resolve();
  /** The part of every agent's `usage` that does not follow from the VM's state. */
  usage: Omit<VmUsage, 'executionId'> = {
    memoryMib: 512,
    swappedMib: 0,
    diskMib: 128,
    snapshotMib: 64,
    cpuSeconds: 1,
    egressBytes: 0,
  };
  /** The answer to all who want the browser; `shown` when its disk is built. */
  browser: BrowserShown = { state: 'shown', message: null };
  /** Whether the browser's disk was shown to some guest: VMs that are made from then on have it. */
  hasBrowserDisk = false;
  /** No guest gives memory back below this size. */
  leastMemoryMib = 0;
  private readonly written = new Map<string, number>();
  private nextAddress = 2;
  private nextCredential = 0;

  /** Returns the guest that answers at an address; null when no VM runs there. */
  guestAt(address: string): FakeVm | null {
    const all = [...this.vms.values(), ...this.builds];
    return all.find((vm) => vm.address === address && vm.alive && !vm.paused && vm.silent === null) ?? null;
  }

  /** Ends a VM's process: by itself, or, as it looks then, from outside. */
  kill(agentId: string, death: VmDeath = { code: 'killed', detail: 'SIGKILL', console: [] }): void {
    const vm = this.vms.get(agentId);
    if (!vm?.alive) return;
    Object.assign(vm, { alive: false, paused: false, halted: null, silent: null, death });
    if (vm.phase !== 'running') return;
    for (const listener of this.exits) listener({ agentId, executionId: vm.executionId });
  }

  /** Saves a VM as it is now. */
  save(vm: FakeVm, { id, memory, facts, listed }: SaveRequest, data: FakeSaved['data'] = null): FakeSaved {
    const saved: FakeSaved = {
      id,
      agentId: vm.agentId,
      executionId: vm.executionId,
      templateId: vm.templateId,
      machine: vm.machine,
      files: new Map(vm.guest.files),
      memory: memory && vm.phase === 'running' ? new Map(vm.guest.memory) : null,
      facts,
      listing: listed === undefined || vm.phase !== 'running' ? null : listingOf(vm.guest, listed),
      data,
      savedAt: new Date(),
      madeAt: new Date(),
      damaged: null,
    };
    this.saved.set(id, saved);
    return saved;
  }

  /** The agent's machine at rest; null when there is none. */
  restOf(agentId: string): FakeSaved | null {
    return this.saved.get(restOf(agentId)) ?? null;
  }

  /** Rejects with `saved_missing`. */
  savedOf(id: string): FakeSaved {
    const saved = this.saved.get(id);
    if (!saved) throw new VmError('saved_missing', `there is no saved machine ${id}`);
    return saved;
  }

  /** Rejects unless a machine can be started from it. */
  assertLoads({ saved, memory }: FromSaved): void {
    const found = this.intactOf(saved);
    if (!memory) return;
    if (found.memory === null) throw new VmError('snapshot_missing', `${saved} has no memory`);
    if (this.isForeign) throw new VmError('snapshot_foreign', `${saved} was saved on another host`);
  }

  /** Rejects with `saved_damaged`, too. */
  intactOf(id: string): FakeSaved {
    const saved = this.savedOf(id);
    if (saved.damaged !== null) throw new VmError('saved_damaged', saved.damaged);
    return saved;
  }

  showBrowser(vm: FakeVm): BrowserShown {
    if (this.browser.state === 'shown') this.hasBrowserDisk = vm.seesBrowser = true;
    return this.browser;
  }

  deathOf(agentId: string): VmDeath | null {
    const vm = this.vms.get(agentId);
    if (vm?.alive) return vm.halted && { code: vm.halted, detail: '', console: [] };
    return vm?.phase === 'running' ? vm.death : null;
  }

  /** Makes the VM stand still by itself, until it is resumed. */
  halt(agentId: string, code: VmDeathCode): void {
    const vm = this.vms.get(agentId);
    if (vm?.alive) Object.assign(vm, { paused: true, halted: code });
  }

  /** Makes the VM's emulator live on without answering; null makes it answer again. */
  silence(agentId: string, why: string | null): void {
    const vm = this.vms.get(agentId);
    if (vm) vm.silent = why;
  }

  /** Prints on the console of the agent's guest. */
  print(agentId: string, text: string): void {
    const vm = this.vms.get(agentId);
    if (vm) vm.console = (vm.console + text).slice(-65_536);
  }

  /** Returns what was printed since the last call. */
  readConsole(agentId: string): string {
    const vm = this.vms.get(agentId);
    if (!vm?.alive) return '';
    const text = vm.console;
    vm.console = '';
    return text;
  }

  /** Makes the rules of the agent's VM refuse connections of its guest. */
  refuse(agentId: string, ...refused: readonly RefusedConnection[]): void {
    this.vms.get(agentId)?.refused.push(...refused);
  }

  /** Makes the agent's guest write to its disk, and so to the host's; nothing happens where it does not run. */
  write(agentId: string, mib: number): void {
    const vm = this.vms.get(agentId);
    if (!vm?.alive || vm.paused) return;
    const { diskGib } = vm.machine;
    const part = Math.min(mib, this.disk.freeMib, diskGib * 1024 - this.diskMibOf(agentId));
    this.written.set(agentId, (this.written.get(agentId) ?? 0) + part);
    this.disk.freeMib -= part;
  }

  usageOf(agentId: string): VmUsage | null {
    const vm = this.vms.get(agentId);
    const diskMib = this.diskMibOf(agentId);
    if (vm?.alive) return { ...this.usage, executionId: vm.executionId, diskMib, snapshotMib: 0 };
    const rest = vm ? null : this.restOf(agentId);
    const { executionId } = vm ?? rest ?? {};
    if (executionId === undefined) return null;
    const snapshotMib = rest?.memory ? this.usage.snapshotMib : 0;
    return { executionId, memoryMib: 0, swappedMib: 0, diskMib, snapshotMib, cpuSeconds: 0, egressBytes: 0 };
  }

  diskUseOf(agentId: string): DiskUse {
    const vm = this.vms.get(agentId);
    return {
      agentId,
      executionId: vm?.phase === 'running' && vm.alive ? vm.executionId : null,
      diskMib: this.diskMibOf(agentId),
      snapshotMib: !vm && this.restOf(agentId)?.memory ? this.usage.snapshotMib : 0,
    };
  }

  /** Agents with a VM, or with one at rest. */
  agentIds(): string[] {
    const resting = [...this.saved.values()].filter(({ id, agentId }) => id === restOf(agentId));
    return [...new Set([...this.vms.keys(), ...resting.map(({ agentId }) => agentId)])];
  }

  keep(template: FakeTemplate): FakeTemplate {
    this.templates.set(template.id, template);
    return template;
  }

  /** The guest that a new template begins with: an empty one, or a copy of the one that it goes on from. */
  guestToPrepare({ from }: TemplateBuild): FakeGuest {
    if (!from) return { files: new Map(), memory: new Map() };
    const found = this.templates.get(from.id);
    if (!found) throw new VmError('template_missing', `template ${from.id} is not there`);
    return copyOf(found.guest);
  }

  private diskMibOf(agentId: string): number {
    return this.usage.diskMib + (this.written.get(agentId) ?? 0);
  }

  newCredential(): string {
    this.nextCredential += 1;
    return `credential-${this.nextCredential}`;
  }

  newAddress(): string {
    this.nextAddress += 1;
    return `198.51.100.${this.nextAddress % 250}`;
  }
}

/** The listing of a fake guest's files, whose names are plain, below a folder, and of the folders that these lie in. */
function listingOf({ files }: FakeGuest, folder: string): string {
  const within = folder.endsWith('/') ? folder : `${folder}/`;
  const records = new Set<string>();
  for (const [name, text] of files) {
    if (!`/${name}`.startsWith(within)) continue;
    const path = `/${name}`.slice(within.length);
    for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1))
      records.add(`d 0 0 ${path.slice(0, at)}\0`);
    records.add(`f ${text.length} 0 ${path}\0`);
  }
  return [...records].join('');
}

export function copyOf(guest: FakeGuest): FakeGuest {
  return { files: new Map(guest.files), memory: new Map(guest.memory) };
}

/** Makes calls fail at `step`, the first `times` of them. */
export function failAt(step: FakeStep, code: VmErrorCode = 'failed', times = Infinity): FakeBehaviour {
  let left = times;
  return async (at) => {
    if (at !== step || left <= 0) return;
    left -= 1;
    throw new VmError(code, `told to fail at ${step}`);
  };
}

/** Makes calls stand still at `step` until they are given up. */
export function hangAt(step: FakeStep): FakeBehaviour {
  return (at, _call, signal) => (at === step ? untilAborted(signal) : Promise.resolve());
}

/** Makes every step take so long. */
export function slow(stepMs: number): FakeBehaviour {
  return (_step, _call, signal) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, stepMs);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      });
    });
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}
