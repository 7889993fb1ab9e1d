import type { EgressRules, VmDeath, VmDeathCode } from '@lodge/domain';
import type { GuestAddress } from '../guest/guest-address.ts';
import type { Image, ReportProgress } from './images.ts';

/** A machine as it is wanted. */
export interface Machine {
  readonly vcpus: number;
  readonly memoryMib: number;
  readonly diskGib: number;
}

/** A saved, warmed-up VM that agents are cloned from. Immutable. */
export interface Template {
  /** Hash over image, device layout, accelerator, emulator version and what `prepare` was told (`TemplateRequest.variant`). */
  readonly id: string;
  readonly imageId: string;
  /** What the runtime said about the guest it prepared (its gateway token, its suspension id ...). Opaque to the driver, kept in a 0600 file on the host. */
  readonly facts: RuntimeFacts;
  /** As in the request it was made by; absent from templates of before. */
  readonly variant?: string;
  /** What its host's pace was when it was made (`VmDriver.pace`); 1 where nothing says. */
  readonly pace?: number;
}

/** JSON that only the runtime which wrote it understands. Holds the template's gateway token: never log it. */
export type RuntimeFacts = Readonly<Record<string, unknown>>;

export interface TemplateRequest {
  /** It need not exist any more: a template has the files of its image. */
  readonly image: Pick<Image, 'id'>;
  /** Version of what `prepare` does to the guest: part of the template's identity. */
  readonly variant: string;
}

export interface TemplateBuild extends TemplateRequest {
  readonly image: Image;
  /** Port on `brokerHost` that the template's guest reaches at its fixed broker address (the warm-up stub, not the broker). */
  readonly brokerPort: number;
  /** A template over the same image whose guest goes on, in the place of one that boots. It stays as it is. Agents are made
   *  from it meanwhile, so the VM that goes on takes the processor time that others leave. */
  readonly from?: Template;
  /** Brings the guest at `address`, which has just booted or gone on, to the state that is saved; runs until the very moment before the save. */
  readonly prepare: (guest: GuestAddress, signal: AbortSignal) => Promise<RuntimeFacts>;
  readonly progress: ReportProgress;
}

export interface VmRequest {
  readonly agentId: string;
  /** Names one incarnation of the agent's VM. A new one supersedes every older one. */
  readonly executionId: string;
  readonly machine: Machine;
  readonly template: Template;
  /** `clone`: a fresh disk over the template's and the template's running memory; any earlier disk of this agent is discarded.
   *  `boot`: the agent's existing disk, booted cold; a snapshot of its memory is discarded.
   *  `snapshot`: disk and memory as `suspend` left them. The snapshot is used up before the guest runs: after a crash there is the disk. */
  readonly from: 'clone' | 'boot' | 'snapshot';
  /** In effect before the guest's first instruction. Default: every public address. */
  readonly egress?: EgressRules;
}

/** A VM whose guest daemon answers, whose clock is set, whose randomness and names are its own, and whose machine is the one asked for. */
export interface Vm {
  readonly agentId: string;
  readonly executionId: string;
  /** IPv4 address the host reaches the guest at; also the source address of everything the guest sends. Unforgeable by the guest. */
  readonly address: string;
  readonly machine: Machine;
  /** With `snapshot`: what `suspend` was given to keep beside it. */
  readonly facts: RuntimeFacts | null;
}

/**
 * What the host has of one agent.
 * - `partial`: a create that did not finish, or a removal that did not.
 * - `dead`: its process is gone.
 * - `paused`: whole, its vCPUs frozen (by `pause`, or by a `suspend` that did not finish).
 * - `unresponsive`: its process lives and does not say whether it runs. It is neither dead nor gone, and may answer later.
 * - `suspended`: no process; disk and a snapshot of its memory that belong together.
 */
export interface VmObservation {
  readonly agentId: string;
  readonly executionId: string | null;
  readonly state: 'running' | 'paused' | 'unresponsive' | 'dead' | 'partial' | 'disk-only' | 'suspended';
  readonly address: string | null;
  /** The VM that `backUp` kept as a backup, by its execution; null when there is none. With nothing in its place the agent is `partial`. */
  readonly backup: string | null;
  /** A VM that is `paused` and that nobody paused: what it stands still for. */
  readonly halted?: VmDeathCode;
  /** Why it is `unresponsive`, for the operator. */
  readonly why?: string;
}

/** What a VM takes up now. */
export interface VmUsage {
  /** Whose counters these are; null where nothing says. */
  readonly executionId: string | null;
  /** Memory of the host that is this VM's share (PSS), MiB; 0 without a process. */
  readonly memoryMib: number;
  readonly diskMib: number;
  readonly snapshotMib: number;
  /** CPU time of the whole VM since its process began, seconds. */
  readonly cpuSeconds: number;
  /** Bytes to public addresses since its network was made. */
  readonly egressBytes: number;
}

/** What an agent takes up of the disk that all agents share. */
export interface DiskUse {
  readonly agentId: string;
  /** Of its VM, where there is one that can be paused. */
  readonly executionId: string | null;
  /** Its disk, and what its emulator has logged. */
  readonly diskMib: number;
  readonly snapshotMib: number;
}

/** A connection, or a name asked for, that an agent's rules refused. Everything in it was chosen by the guest. */
export interface RefusedConnection {
  readonly at: Date;
  readonly protocol: 'tcp' | 'udp' | 'icmp' | 'dns';
  /** IPv4 address and port; null for `dns`. */
  readonly address: string | null;
  readonly port: number | null;
  /** The name that was looked up, with `dns`; at most 253 characters, printable ASCII. */
  readonly name: string | null;
}

/** What a `suspend` cost. */
export interface Suspension {
  /** Bytes of memory and device state that were written. */
  readonly bytes: number;
  /** From the freeze until everything was on the disk, milliseconds. */
  readonly ms: number;
}

/** What of a guest goes with its agent when that gets a VM from another template. Absolute paths. */
export interface CarriedData {
  readonly folders: readonly string[];
  /** Below them, what belongs to the template and not to the agent: it stays as each template has it. */
  readonly except: readonly string[];
}

/**
 * Where VMs run. One object of this kind owns all VMs of this instance on this host.
 * At most one VM exists per agent; `create`, `remove` and `buildTemplate` are idempotent and may be repeated after a crash at any point.
 * Calls for one agent are served one at a time, in order, except that `remove` aborts a `create` under way.
 */
export interface VmDriver {
  /** Host address the broker must listen on: what a guest sends to its fixed broker address arrives here, at `brokerPort`. */
  readonly brokerHost: string;
  /** The host's pace (`@lodge/domain`): how many times longer a guest's own work may take here. That of the slowest template seen; 1 before there is one. */
  readonly pace: number;
  /** Prepares the host (network, accelerator check), adopts VMs that outlived an earlier process, and removes what belongs to no run directory. Call once, first. */
  start(): Promise<void>;
  /** Stops watching. Leaves every VM running. */
  stop(): Promise<void>;
  /** Once the driver is started, what is found stays for VMs, whatever becomes of the cache. */
  findTemplate(request: TemplateRequest): Promise<Template | null>;
  /** The template of that id, current or not: an agent's disk lies over the one it was made from. */
  getTemplate(id: string): Promise<Template | null>;
  /** Makes the template if it is absent; concurrent builds of the same one join, across processes too. Rejects with `template_missing` when the one to go on from is not there. */
  buildTemplate(build: TemplateBuild, signal: AbortSignal): Promise<Template>;
  /** Makes the agent's VM. The same execution twice is the same VM. Rejects with `VmError`; then nothing of this execution is left but, with `boot`, the disk. */
  create(request: VmRequest, signal: AbortSignal): Promise<Vm>;
  /** Freezes the vCPUs; memory stays. Frozen is success. Rejects with `gone` when that execution does not run here. */
  pause(agentId: string, executionId: string): Promise<void>;
  /** Lets the vCPUs go on, the guest's clock set and its randomness reseeded. Running is success. Rejects with `gone` as `pause` does. */
  resume(agentId: string, executionId: string): Promise<void>;
  /**
   * Freezes the VM, or takes it as it stands where it is `paused`; writes what its memory has changed and its devices beside its disk as one snapshot, fsyncs, and then
   * frees process, namespace and memory. Rejects with the VM as it was before (`disk_full` when there is no room): the caller
   * lets it run again. A crash in its midst leaves either the VM, `paused`, or the snapshot.
   */
  suspend(agentId: string, executionId: string, facts: RuntimeFacts, signal: AbortSignal): Promise<Suspension>;
  /**
   * As `suspend`, and then disk and snapshot are kept as a backup as they are, with the content of the guest's data folders, so that
   * another VM can be made in its place. Backed up already is success. Rejects with the VM as it was before; with `disk_full`,
   * before it is frozen, where the host has no room for a second disk. A crash in its midst leaves the VM, or it is the backup
   * when the next driver has started.
   */
  backUp(
    agentId: string,
    executionId: string,
    kept: { readonly facts: RuntimeFacts; readonly data: CarriedData },
    signal: AbortSignal,
  ): Promise<Suspension>;
  /**
   * Puts what was kept of the data folders into that VM, made in the place of the one that is backed up, and removes what its template
   * had there. Its runtime has ended. What it has written survives the VM's end.
   */
  carryOver(agentId: string, executionId: string, data: CarriedData, signal: AbortSignal): Promise<void>;
  /** The VM that is the backup is the agent's again, `suspended`; what was made in its place is removed. No backup is success. */
  rollBack(agentId: string): Promise<void>;
  /** Frees the backup. No backup is success. */
  dropBackup(agentId: string): Promise<void>;
  /** Grows or shrinks the running VM; resolves with the machine as it then is, which may be larger than asked for where the guest did not give memory back within a bound. */
  resize(agentId: string, executionId: string, machine: Machine, signal: AbortSignal): Promise<Machine>;
  /**
   * What the daemon in the agent's guest knows the host by: new with each `create`, in effect when it resolves, and a secret.
   * Answers before `start`, too. Null: it knows the host by its address alone, or the agent has no guest at this address.
   */
  guestCredential(agentId: string, address: string): Promise<string | null>;
  /** Null when nothing of the agent is here. */
  usage(agentId: string): Promise<VmUsage | null>;
  /** What the guest printed on its console since the last call, at most 64 KiB: older is lost. Empty when no VM runs. */
  readConsole(agentId: string): Promise<string>;
  /** Why the VM that is `dead` here ended, or what one that is halted stands still for; null where it is neither. */
  death(agentId: string): Promise<VmDeath | null>;
  /** Puts these rules on the agent's network at once; connections that they do not allow end. Nothing of the agent here is success. */
  setEgress(agentId: string, rules: EgressRules): Promise<void>;
  /** What the agent's rules refused since the last call, oldest first, and how many more there were than are told. */
  readRefused(agentId: string): Promise<{ readonly refused: readonly RefusedConnection[]; readonly more: number }>;
  /** Removes templates, and images' disks they alone need, that are not of `keep` and not under construction. Gives their ids. */
  collectTemplates(keep: ReadonlySet<string>): Promise<readonly string[]>;
  /** Null when nothing of the agent is here. Waits for an emulator that does not answer as `list` does. */
  inspect(agentId: string): Promise<VmObservation | null>;
  /**
   * Everything on the host that belongs to this instance, whole or partial. All emulators are asked at once, each for some
   * seconds at most; one that was silent before is not waited for.
   */
  list(): Promise<VmObservation[]>;
  /** Ends the VM and frees process, namespace, cgroup and files, a snapshot among them; the disk too, and the backup, unless the disk is to be kept. Absent is success. */
  remove(agentId: string, options: { readonly keepDisk: boolean }): Promise<void>;
  /** Calls back when a VM's process ends, however it ended. Returns the unsubscribe function. */
  onExit(listener: (exit: { readonly agentId: string; readonly executionId: string }) => void): () => void;
  /** The host's memory in MiB: `total`, and `available` as the kernel estimates it. */
  hostMemory(): Promise<{ readonly totalMib: number; readonly availableMib: number }>;
  /** The file system that holds the agents' disks, MiB: `free` is what a process without privileges may still write. Cheap, and waits for no disk. */
  hostDisk(): Promise<{ readonly totalMib: number; readonly freeMib: number }>;
  /** Of every agent of which anything is here; or of VMs that can be paused alone, which waits for no disk however busy it is. */
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
  /** Whole, and saved where emulator, accelerator or processor are others. */
  | 'snapshot_foreign'
  | 'disk_full'
  | 'gone'
  | 'failed';

/** A driver's failure. `message` is for the operator's log, never for a reply. */
export class VmError extends Error {
  readonly code: VmErrorCode;
  /** Of a start that failed because its VM ended: why it did. */
  readonly death: VmDeath | null;
  constructor(code: VmErrorCode, message: string, options?: ErrorOptions & { readonly death?: VmDeath | null }) {
    super(message, options);
    this.name = 'VmError';
    this.code = code;
    this.death = options?.death ?? null;
  }
}
