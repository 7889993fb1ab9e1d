import type { CarriedData, Machine, RuntimeFacts, TemplateBuild, VmDriver, VmRequest } from '@lodge/ports';

/** What the suite needs of an implementation beside the port: a look into guests, and the means to break things. */
export interface DriverHarness {
  readonly template: Pick<TemplateBuild, 'image' | 'variant'>;
  /** A new driver over the same host. The one before must have been stopped. */
  driver(): VmDriver;
  guest(at: { readonly address: string }): GuestProbe;
  /** The guest's folder that a probe's files lie in; empty where they lie in the root. */
  readonly home: string;
  /** Ends the agent's VM from outside, as a crash of its process would. */
  killVm(agentId: string): Promise<void>;
  /** Has the agent's emulator live on and answer nothing, or answer again. */
  silence(agentId: string, is: boolean): Promise<void>;
  /** How far a call may come before its control plane is killed; in whatever unit the implementation has. */
  readonly moments: Readonly<Record<Call['do'], readonly Moment[]>>;
  /** Has a control plane of its own begin the call and kills it hard at that moment. The suite's own driver is stopped. */
  killDuring(call: Call, moment: Moment): Promise<void>;
  /** Flips one bit of what the agent's snapshot holds: of its `memory`, its `devices` or what is written down about them. */
  damageSnapshot(agentId: string, part: SnapshotPart): Promise<void>;
  /** Runs `work` while the disk that VMs lie on has no room. */
  whileDiskIsFull(work: () => Promise<void>): Promise<void>;
  /** Everything this host holds of VMs outside their folders, one line each: processes, namespaces, control groups. */
  holdings(): Promise<string[]>;
  /** Names of files in the agent's folder; empty without one, and where there are no files. */
  files(agentId: string): Promise<string[]>;
  close(): Promise<void>;
}

export type Call =
  | { readonly do: 'create'; readonly request: VmRequest }
  /** `create` from a snapshot that is there. */
  | { readonly do: 'start'; readonly request: VmRequest }
  | { readonly do: 'suspend'; readonly agentId: string; readonly executionId: string; readonly facts: RuntimeFacts }
  | {
      readonly do: 'backUp';
      readonly agentId: string;
      readonly executionId: string;
      readonly kept: { readonly facts: RuntimeFacts; readonly data: CarriedData };
    };

/** Has a driver make the call. */
export function make(driver: VmDriver, call: Call): Promise<unknown> {
  const { signal } = new AbortController();
  switch (call.do) {
    case 'create':
    case 'start':
      return driver.create(call.request, signal);
    case 'suspend':
      return driver.suspend(call.agentId, call.executionId, call.facts, signal);
    case 'backUp':
      return driver.backUp(call.agentId, call.executionId, call.kept, signal);
  }
}

export const snapshotParts = ['memory', 'devices', 'manifest'] as const;
export type SnapshotPart = (typeof snapshotParts)[number];

export interface Moment {
  readonly name: string;
  readonly at: number;
}

/** One guest, by whatever way in the implementation has. */
export interface GuestProbe {
  answers(): Promise<boolean>;
  /** Whether its daemon takes a call that carries this credential, or none. */
  admits(credential: string | null): Promise<boolean>;
  machine(): Promise<Pick<Machine, 'vcpus' | 'memoryMib'>>;
  /** On its disk, synced. */
  writeFile(name: string, text: string): Promise<void>;
  /** Null when there is no such file. */
  readFile(name: string): Promise<string | null>;
  /** In its memory alone. */
  remember(name: string, text: string): Promise<void>;
  recall(name: string): Promise<string | null>;
  /** On its console. */
  print(text: string): Promise<void>;
  /** Its own clock, milliseconds since the epoch. */
  clock(): Promise<number>;
}
