import type { Machine, TemplateRequest, VmDriver, VmRequest } from '@lodge/engine/ports';

/** What the suite needs of an implementation beside the port: a look into guests, and the means to break things. */
export interface DriverHarness {
  readonly template: TemplateRequest;
  /** A new driver over the same host. The one before must have been stopped. */
  driver(): VmDriver;
  guest(at: { readonly address: string }): GuestProbe;
  /** Ends the agent's VM from outside, as a crash of its process would. */
  killVm(agentId: string): Promise<void>;
  /** How far a create may come before its control plane is killed; in whatever unit the implementation has. */
  readonly moments: readonly Moment[];
  /** Has a control plane of its own begin the create and kills it hard at that moment. The suite's own driver is stopped. */
  killDuringCreate(request: VmRequest, moment: Moment): Promise<void>;
  /** Everything this host holds of VMs outside their folders, one line each: processes, namespaces, control groups. */
  holdings(): Promise<string[]>;
  close(): Promise<void>;
}

export interface Moment {
  readonly name: string;
  readonly at: number;
}

/** One guest, by whatever way in the implementation has. */
export interface GuestProbe {
  answers(): Promise<boolean>;
  machine(): Promise<Pick<Machine, 'vcpus' | 'memoryMib'>>;
  /** On its disk, synced. */
  writeFile(name: string, text: string): Promise<void>;
  /** Null when there is no such file. */
  readFile(name: string): Promise<string | null>;
  /** In its memory alone. */
  remember(name: string, text: string): Promise<void>;
  recall(name: string): Promise<string | null>;
}
