import type { EgressRules, VmDeath, VmDeathCode } from '@lodge/domain';
import type { GuestAddress } from '../guest/guest-address.ts';
import type { Image, ReportProgress } from './images.ts';
import type { Machine, RuntimeFacts } from './machine.ts';
import type { FromSaved, SavedMachines } from './saved-machines.ts';

/** A saved, warmed-up VM that agents are cloned from. Immutable. */
export interface Template {
  /** Hash over image, device layout, accelerator, emulator version and `TemplateRequest.variant`. */
  readonly id: string;
  readonly imageId: string;
  /**
   * The runtime's facts about the guest that it prepared (its gateway token, its suspension id ...). They are opaque to the
   * driver and stored in a 0600 file on the host.
   */
  readonly facts: RuntimeFacts;
  /** The variant of its request; absent from older templates. */
  readonly variant?: string;
  /** The host's pace when the template was made (`VmDriver.pace`); 1 when unknown. */
  readonly pace?: number;
}

export interface TemplateRequest {
  /** The image need not exist any more, because a template has the files of its image. */
  readonly image: Pick<Image, 'id'>;
  /** Version of the effect that `prepare` has on the guest, as a part of the template's identity. */
  readonly variant: string;
}

export interface TemplateBuild extends TemplateRequest {
  readonly image: Image;
  /** Port on `brokerHost` that the template's guest reaches at its fixed broker address (the warm-up stub, not the broker). */
  readonly brokerPort: number;
  /**
   * A template over the same image whose guest continues, instead of a guest that boots. The template stays as it is. Agents
   * are made from it meanwhile, so the continuing VM takes only the processor time that others leave.
   */
  readonly from?: Template;
  /**
   * Brings the guest at `address`, which has just booted or resumed, to the state that is saved. It runs until the very
   * moment before the save.
   */
  readonly prepare: (guest: GuestAddress, signal: AbortSignal) => Promise<RuntimeFacts>;
  readonly progress: ReportProgress;
}

export interface VmRequest {
  readonly agentId: string;
  /** Names one incarnation of the agent's VM. A new one supersedes every older one. */
  readonly executionId: string;
  readonly machine: Machine;
  readonly template: Template;
  /**
   * The VM's disk and memory.
   *
   * - `clone`: a fresh disk over the template's and the template's running memory; any earlier disk of this agent is
   *   discarded.
   * - `boot`: the agent's existing disk, booted cold; a snapshot of its memory is discarded.
   * - `snapshot`: disk and memory as `suspend` left them. The snapshot is used up before the guest runs, and after a crash
   *   only the disk is left.
   * - `FromSaved`: a fresh disk over the saved machine's, with its memory or booted cold; any earlier disk of this agent is
   *   discarded, as with `clone`. `template` is that of the saved machine.
   */
  readonly from: 'clone' | 'boot' | 'snapshot' | FromSaved;
  /** Rules in effect before the guest's first instruction. By default every public address is allowed. */
  readonly egress?: EgressRules;
  /**
   * Only with `FromSaved`: the guest's processes stay frozen and only its daemon answers, so that its files can be read and
   * nothing in it acts. A machine that boots from its disk is frozen once its daemon answers.
   */
  readonly still?: boolean;
}

/**
 * A running VM. Its guest daemon answers, its clock is set, its randomness and names are its own, and its machine is the
 * requested one.
 */
export interface Vm {
  readonly agentId: string;
  readonly executionId: string;
  /**
   * IPv4 address at which the host reaches the guest, and source address of everything that the guest sends. The guest
   * cannot forge it.
   */
  readonly address: string;
  readonly machine: Machine;
  /** With `snapshot`, and with the memory of a saved machine, the facts that were stored beside it. */
  readonly facts: RuntimeFacts | null;
}

/**
 * The host's state of one agent.
 *
 * - `partial`: a create or a removal did not finish.
 * - `dead`: its process is gone.
 * - `paused`: whole, its vCPUs frozen (by `pause`, or by a `suspend` that did not finish).
 * - `unresponsive`: its process lives and does not say whether it runs. It is neither dead nor gone, and may answer later.
 * - `suspended`: no process; a disk and a snapshot of memory that belong together.
 */
export interface VmObservation {
  readonly agentId: string;
  readonly executionId: string | null;
  readonly state: 'running' | 'paused' | 'unresponsive' | 'dead' | 'partial' | 'disk-only' | 'suspended';
  readonly address: string | null;
  /**
   * The execution of the VM that `backUp` kept as a backup; null when there is none. With a backup and no VM in its place
   * the agent is `partial`.
   */
  readonly backup: string | null;
  /** The reason why a VM that nobody paused is `paused`. */
  readonly halted?: VmDeathCode;
  /** The reason why it is `unresponsive`, for the operator. */
  readonly why?: string;
}

/** Present resource use of a VM. */
export interface VmUsage {
  /** The execution of these counters; null when unknown. */
  readonly executionId: string | null;
  /** The VM's share of the host's memory (PSS), MiB; 0 without a process. */
  readonly memoryMib: number;
  readonly diskMib: number;
  readonly snapshotMib: number;
  /** CPU time of the whole VM since its process began, seconds. */
  readonly cpuSeconds: number;
  /** Bytes to public addresses since its network was made. */
  readonly egressBytes: number;
}

/** An agent's use of the disk that all agents share. */
export interface DiskUse {
  readonly agentId: string;
  /** The execution of its VM, if it has one that can be paused. */
  readonly executionId: string | null;
  /** Size of its disk and of its emulator's log. */
  readonly diskMib: number;
  readonly snapshotMib: number;
}

/** A connection or a name look-up that an agent's rules refused. The guest chose every value in it. */
export interface RefusedConnection {
  readonly at: Date;
  readonly protocol: 'tcp' | 'udp' | 'icmp' | 'dns';
  /** IPv4 address and port; null for `dns`. */
  readonly address: string | null;
  readonly port: number | null;
  /** The name looked up, only for `dns`; at most 253 printable ASCII characters. */
  readonly name: string | null;
}

/**
 * Whether a VM's guest finds the browser on its device.
 *
 * - `shown`: the disk is there.
 * - `building`: it is being built for all machines of this host.
 * - `failed`: it could not be built, and is tried again later.
 * - `no_device`: the machine is of an earlier release and has no such device. Its next boot gives it one.
 */
export interface BrowserShown {
  readonly state: 'shown' | 'building' | 'failed' | 'no_device';
  /** The step of the build, or why it failed; else null. */
  readonly message: string | null;
}

/** The cost of a `suspend`. */
export interface Suspension {
  /** Bytes of memory and device state written. */
  readonly bytes: number;
  /** Milliseconds from the freeze until everything was on the disk. */
  readonly ms: number;
}

/** The data of a guest that moves with its agent to a VM of another template, as absolute paths. */
export interface CarriedData {
  readonly folders: readonly string[];
  /** Paths below them that belong to the template and stay as each template has them. */
  readonly except: readonly string[];
}

/**
 * Runs VMs. One object of this kind owns all VMs of this instance on this host.
 * At most one VM exists per agent. `create`, `remove` and `buildTemplate` are idempotent and may be repeated after a crash
 * at any point.
 * Calls for one agent are served one at a time, in order, except that `remove` aborts a `create` in progress.
 */
export interface VmDriver extends SavedMachines {
  /**
   * Host address on which the broker must listen. Traffic to a guest's fixed broker address arrives here, at `brokerPort`.
   */
  readonly brokerHost: string;
  /**
   * The host's pace (`@lodge/domain`): the factor by which a guest's own work may take longer here. It is that of the
   * slowest template seen, and 1 before there is one.
   */
  readonly pace: number;
  /**
   * Prepares the host (network, accelerator check), adopts VMs that outlived an earlier process, and removes everything that
   * belongs to no run directory. Call it once, first.
   */
  start(): Promise<void>;
  /** Stops watching. Leaves every VM running. */
  stop(): Promise<void>;
  /** Finds a template. Once the driver is started, a found template stays for VMs even if the cache is emptied. */
  findTemplate(request: TemplateRequest): Promise<Template | null>;
  /**
   * Returns the template of that id, current or not, because an agent's disk lies over the template that it was made from.
   */
  getTemplate(id: string): Promise<Template | null>;
  /**
   * Makes the template if it is absent. Concurrent builds of the same template join, across processes too. Rejects with
   * `template_missing` when `from` is missing.
   */
  buildTemplate(build: TemplateBuild, signal: AbortSignal): Promise<Template>;
  /**
   * Makes the agent's VM. The same execution twice is the same VM. Rejects with `VmError`; then nothing of this execution is
   * left but, with `boot`, the disk.
   */
  create(request: VmRequest, signal: AbortSignal): Promise<Vm>;
  /**
   * Freezes the vCPUs and keeps the memory. A frozen VM is a success. Rejects with `gone` when that execution does not run
   * here.
   */
  pause(agentId: string, executionId: string): Promise<void>;
  /**
   * Resumes the vCPUs, with the guest's clock set and its randomness reseeded. A running VM is a success. Rejects with
   * `gone` as `pause` does.
   */
  resume(agentId: string, executionId: string): Promise<void>;
  /**
   * Freezes the VM, or takes a `paused` one. Writes its changed memory and its devices beside its disk as one snapshot,
   * fsyncs, and then frees process, namespace and memory. A rejection leaves the VM as it was (`disk_full` when there is no
   * room), and the caller lets it run again. A crash leaves either the VM, `paused`, or the snapshot.
   */
  suspend(agentId: string, executionId: string, facts: RuntimeFacts, signal: AbortSignal): Promise<Suspension>;
  /**
   * Suspends the VM and keeps disk and snapshot as a backup, with the content of the guest's data folders, so another VM can
   * be made in its place. An existing backup is a success. A rejection leaves the VM as it was. `disk_full` comes before the
   * freeze when the host has no room for a second disk. A crash leaves the VM, or the backup once the next driver has
   * started.
   */
  backUp(
    agentId: string,
    executionId: string,
    kept: { readonly facts: RuntimeFacts; readonly data: CarriedData },
    signal: AbortSignal,
  ): Promise<Suspension>;
  /**
   * Copies the backup's data folders into the VM made in its place, and removes the template's own content there. The VM's
   * runtime has ended. The written data survives the VM's end.
   */
  carryOver(agentId: string, executionId: string, data: CarriedData, signal: AbortSignal): Promise<void>;
  /**
   * Restores the VM of the backup as the agent's, `suspended`, and removes the VM made in its place. No backup is a success.
   */
  rollBack(agentId: string): Promise<void>;
  /** Frees the backup. No backup is a success. */
  dropBackup(agentId: string): Promise<void>;
  /**
   * Grows or shrinks the running VM and resolves with the resulting machine. It may be larger than requested when the guest
   * did not give memory back within a bound.
   */
  resize(agentId: string, executionId: string, machine: Machine, signal: AbortSignal): Promise<Machine>;
  /**
   * Shows the browser's disk to the running VM's guest, which sees zeroes before. A shown disk is a success. The first call
   * on a host begins to build the disk and does not wait for it: the caller asks again. A VM that was booted or cloned after
   * the build has the disk at once. Rejects with `gone` as `pause` does.
   */
  showBrowser(agentId: string, executionId: string): Promise<BrowserShown>;
  /**
   * Returns the secret by which the daemon in the agent's guest recognises the host. It is new with each `create` and in
   * effect when that resolves. It also answers before `start`. Null when the daemon recognises the host by its address
   * alone, or the agent has no guest at this address.
   */
  guestCredential(agentId: string, address: string): Promise<string | null>;
  /** Returns null when nothing of the agent is here. */
  usage(agentId: string): Promise<VmUsage | null>;
  /** Returns the guest's console output since the last call, at most 64 KiB; older output is lost. Empty when no VM runs. */
  readConsole(agentId: string): Promise<string>;
  /** Returns the reason why the `dead` VM ended, or why a halted one stands still; else null. */
  death(agentId: string): Promise<VmDeath | null>;
  /**
   * Applies these rules to the agent's network at once and ends connections that they do not allow. No VM of the agent is a
   * success.
   */
  setEgress(agentId: string, rules: EgressRules): Promise<void>;
  /** Returns the refusals of the agent's rules since the last call, oldest first, and the number of those left out. */
  readRefused(agentId: string): Promise<{ readonly refused: readonly RefusedConnection[]; readonly more: number }>;
  /**
   * Removes templates that are neither in `keep` nor under construction, with the images' disks that only they need. Returns
   * their ids.
   */
  collectTemplates(keep: ReadonlySet<string>): Promise<readonly string[]>;
  /** Returns null when nothing of the agent is here. Waits for an unresponsive emulator as `list` does. */
  inspect(agentId: string): Promise<VmObservation | null>;
  /**
   * Returns everything on the host that belongs to this instance, whole or partial. All emulators are queried at once, each
   * for some seconds at most. One that was silent before is not waited for.
   */
  list(): Promise<VmObservation[]>;
  /**
   * Ends the VM and frees process, namespace, cgroup and files, including a snapshot. Disk and backup go too, unless the
   * disk is to be kept. Absence is a success.
   */
  remove(agentId: string, options: { readonly keepDisk: boolean }): Promise<void>;
  /** Calls back when a VM's process ends, for any reason. Returns the unsubscribe function. */
  onExit(listener: (exit: { readonly agentId: string; readonly executionId: string }) => void): () => void;
  /** The host's memory in MiB: `total`, and `available` as the kernel estimates it. */
  hostMemory(): Promise<{ readonly totalMib: number; readonly availableMib: number }>;
  /**
   * The file system of the agents' disks, in MiB. `free` is the space that a process without privileges may still write.
   * Cheap, and waits for no disk.
   */
  hostDisk(): Promise<{ readonly totalMib: number; readonly freeMib: number }>;
  /** Returns the disk use of every agent with data here, or only of VMs that can be paused, which waits for no busy disk. */
  diskUse(of: 'all' | 'running'): Promise<readonly DiskUse[]>;
}

export type VmErrorCode =
  | 'aborted'
  | 'superseded'
  | 'timeout'
  | 'no_capacity'
  | 'template_missing'
  | 'disk_missing'
  | 'snapshot_missing'
  /** The snapshot is whole, but was saved on another emulator, accelerator or processor. */
  | 'snapshot_foreign'
  /** There is no saved machine of that id. */
  | 'saved_missing'
  /** A saved machine is not as it was saved. It is not loaded. */
  | 'saved_damaged'
  | 'disk_full'
  | 'gone'
  | 'failed';

/** Thrown when a driver fails. `message` is for the operator's log, never for a reply. */
export class VmError extends Error {
  readonly code: VmErrorCode;
  /** The reason why the VM ended, for a start that failed because of it. */
  readonly death: VmDeath | null;
  constructor(code: VmErrorCode, message: string, options?: ErrorOptions & { readonly death?: VmDeath | null }) {
    super(message, options);
    this.name = 'VmError';
    this.code = code;
    this.death = options?.death ?? null;
  }
}
