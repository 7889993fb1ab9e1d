import type { EgressRules, VmDeath, VmDeathCode } from '@lodge/domain';
import type { Machine, RuntimeFacts } from './machine.ts';
import type { CarriedData, FromSaved } from './saved-machines.ts';
import type { Template } from './templates.ts';

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
   * - `boot`: the disk of the agent's VM that ended, booted cold.
   * - `FromSaved`: a fresh disk over the saved machine's, with its memory or booted cold; any earlier disk of this agent is
   *   discarded, as with `clone`. `template` is that of the saved machine. The agent's machine at rest is freed once the VM is
   *   whole; until then a crash leaves it.
   */
  readonly from: 'clone' | 'boot' | FromSaved;
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
   * The driver's name for the guest: the source, as the broker sees it, of everything that the guest sends. The guest cannot
   * forge it. Only the driver knows more of it: others reach the guest by `VmHost.dial`.
   */
  readonly address: string;
  readonly machine: Machine;
  /** With the memory of a saved machine, the facts that were stored beside it. */
  readonly facts: RuntimeFacts | null;
}

/**
 * The host's state of one agent.
 *
 * - `partial`: a create or a removal did not finish.
 * - `dead`: its process is gone.
 * - `paused`: whole, its vCPUs frozen (by `pause`, or by a `save` or `rest` that did not finish).
 * - `unresponsive`: its process lives and does not say whether it runs. It is neither dead nor gone, and may answer later.
 * - `suspended`: no process; a machine at rest (`restOf`).
 */
export interface VmObservation {
  readonly agentId: string;
  readonly executionId: string | null;
  readonly state: 'running' | 'paused' | 'unresponsive' | 'dead' | 'partial' | 'disk-only' | 'suspended';
  readonly address: string | null;
  /** The execution of the machine at rest, while another VM is in its place; else null. */
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
  /**
   * The VM's share of the host's memory (PSS), with the memory that the kernel has for its pages in swap, MiB; 0 without a
   * process.
   */
  readonly memoryMib: number;
  /** Its pages in swap, MiB as they are when they come back. */
  readonly swappedMib: number;
  readonly diskMib: number;
  readonly snapshotMib: number;
  /** CPU time of the whole VM since its process began, seconds. */
  readonly cpuSeconds: number;
  /** Bytes to public addresses since its network was made. */
  readonly egressBytes: number;
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

/** Agents' VMs on this host. */
export interface VmMachines {
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
   * Copies the data folders that the machine at rest has kept into the VM made in its place, and removes the template's own
   * content there. The VM's runtime has ended. The written data survives the VM's end.
   */
  carryOver(agentId: string, executionId: string, data: CarriedData, signal: AbortSignal): Promise<void>;
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
  /** Returns null when nothing of the agent is here. Waits for an unresponsive emulator as `list` does. */
  inspect(agentId: string): Promise<VmObservation | null>;
  /**
   * Returns everything on the host that belongs to this instance, whole or partial. All emulators are queried at once, each
   * for some seconds at most. One that was silent before is not waited for.
   */
  list(): Promise<VmObservation[]>;
  /**
   * Ends the VM and frees process, namespace, cgroup and files. Its disk goes too, unless it is to be kept, and so does the
   * agent's machine at rest, unless that or the disk is to be kept. Absence is a success.
   */
  remove(agentId: string, options: { readonly keepDisk: boolean; readonly keepRest?: boolean }): Promise<void>;
  /** Calls back when a VM's process ends, for any reason. Returns the unsubscribe function. */
  onExit(listener: (exit: { readonly agentId: string; readonly executionId: string }) => void): () => void;
}
