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
}

/** JSON that only the runtime which wrote it understands. Holds the template's gateway token: never log it. */
export type RuntimeFacts = Readonly<Record<string, unknown>>;

export interface TemplateRequest {
  readonly image: Image;
  /** Version of what `prepare` does to the guest: part of the template's identity. */
  readonly variant: string;
}

export interface TemplateBuild extends TemplateRequest {
  /** Port on `brokerHost` that the template's guest reaches at its fixed broker address (the warm-up stand-in, not the broker). */
  readonly brokerPort: number;
  /** Brings the cold-booted guest at `address` to the state that is saved; runs until the very moment before the save. */
  readonly prepare: (guest: { readonly address: string }, signal: AbortSignal) => Promise<RuntimeFacts>;
  readonly progress: ReportProgress;
}

export interface VmRequest {
  readonly agentId: string;
  /** Names one incarnation of the agent's VM. A new one supersedes every older one. */
  readonly executionId: string;
  readonly machine: Machine;
  readonly template: Template;
  /** `clone`: a fresh disk over the template's and the template's running memory; any earlier disk of this agent is discarded.
   *  `boot`: the agent's existing disk, booted cold. */
  readonly from: 'clone' | 'boot';
}

/** A VM whose guest daemon answers, whose clock is set and whose machine is the one asked for. */
export interface Vm {
  readonly agentId: string;
  readonly executionId: string;
  /** IPv4 address the host reaches the guest at; also the source address of everything the guest sends. Unforgeable by the guest. */
  readonly address: string;
}

/** What the host has of one agent. `partial`: a create that did not finish, or a removal that did not. `dead`: its process is gone. */
export interface VmObservation {
  readonly agentId: string;
  readonly executionId: string | null;
  readonly state: 'running' | 'dead' | 'partial' | 'disk-only';
  readonly address: string | null;
}

/**
 * Where VMs run. One object of this kind owns all VMs of this instance on this host.
 * At most one VM exists per agent; `create`, `remove` and `buildTemplate` are idempotent and may be repeated after a crash at any point.
 * Calls for one agent are served one at a time, in order, except that `remove` aborts a `create` under way.
 */
export interface VmDriver {
  /** Host address the broker must listen on: what a guest sends to its fixed broker address arrives here, at `brokerPort`. */
  readonly brokerHost: string;
  /** Prepares the host (network, accelerator check), adopts VMs that outlived an earlier process, and removes what belongs to no run directory. Call once, first. */
  start(): Promise<void>;
  /** Stops watching. Leaves every VM running. */
  stop(): Promise<void>;
  findTemplate(request: TemplateRequest): Promise<Template | null>;
  /** The template of that id, current or not: an agent's disk lies over the one it was made from. */
  getTemplate(id: string): Promise<Template | null>;
  /** Makes the template if it is absent; concurrent builds of the same one join, across processes too. */
  buildTemplate(build: TemplateBuild, signal: AbortSignal): Promise<Template>;
  /** Makes the agent's VM. The same execution twice is the same VM. Rejects with `VmError`; then nothing of this execution is left but, with `boot`, the disk. */
  create(request: VmRequest, signal: AbortSignal): Promise<Vm>;
  inspect(agentId: string): Promise<VmObservation | null>;
  /** Everything on the host that belongs to this instance, whole or partial. */
  list(): Promise<VmObservation[]>;
  /** Ends the VM and frees process, namespace, cgroup and files; the disk too unless it is to be kept. Absent is success. */
  remove(agentId: string, options: { readonly keepDisk: boolean }): Promise<void>;
  /** Calls back when a VM's process ends, however it ended. Returns the unsubscribe function. */
  onExit(listener: (exit: { readonly agentId: string; readonly executionId: string }) => void): () => void;
  /** The host's memory in MiB: `total`, and `available` as the kernel estimates it. */
  hostMemory(): Promise<{ readonly totalMib: number; readonly availableMib: number }>;
}

export type VmErrorCode =
  | 'aborted'
  | 'superseded'
  | 'timeout'
  | 'no_capacity'
  | 'template_missing'
  | 'disk_missing'
  | 'failed';

/** A driver's failure. `message` is for the operator's log, never for a reply. */
export class VmError extends Error {
  readonly code: VmErrorCode;
  constructor(code: VmErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'VmError';
    this.code = code;
  }
}
