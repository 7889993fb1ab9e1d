import type { Machine, RestRequest, SaveRequest, TemplateBuild, VmDriver, VmRequest } from '@lodge/ports';

/** The suite's needs beside the port: a look into guests, and means to break things. */
export interface DriverHarness {
  readonly template: Pick<TemplateBuild, 'image' | 'variant'>;
  /** Makes a new driver over the same host. The earlier one must have been stopped. */
  driver(): VmDriver;
  guest(at: { readonly address: string }): GuestProbe;
  /** The guest's folder with a probe's files; empty where they lie in the root. */
  readonly home: string;
  /** Ends the agent's VM from outside, as a crash of its process would. */
  killVm(agentId: string): Promise<void>;
  /** Makes the agent's emulator live on without answering, or answer again. */
  silence(agentId: string, is: boolean): Promise<void>;
  /** How far a call may get before its control plane is killed, in the implementation's unit. */
  readonly moments: Readonly<Record<Call['do'], readonly Moment[]>>;
  /** Lets a separate control plane begin the call and kills it hard at that moment. The suite's own driver is stopped. */
  killDuring(call: Call, moment: Moment): Promise<void>;
  /** Flips one bit of that part of a saved machine, or flips it back. */
  damageSaved(id: string, part: SavedPart): Promise<void>;
  /** Runs `work` while the disk that VMs and saved machines lie on has no room. */
  whileDiskIsFull(work: () => Promise<void>): Promise<void>;
  /** Everything that this host holds of VMs outside their folders, one line each: processes, namespaces, control groups. */
  holdings(): Promise<string[]>;
  /** Names of files in the agent's folder; empty without a folder, and where the implementation has no files. */
  files(agentId: string): Promise<string[]>;
  close(): Promise<void>;
}

export type Call =
  | { readonly do: 'create'; readonly request: VmRequest }
  /** A `create` from a machine at rest. */
  | { readonly do: 'start'; readonly request: VmRequest }
  | { readonly do: 'rest'; readonly agentId: string; readonly executionId: string; readonly request: RestRequest }
  | {
      readonly do: 'save';
      readonly agentId: string;
      readonly executionId: string;
      readonly request: SaveRequest;
    };

/** Makes a driver execute the call. */
export function make(driver: VmDriver, call: Call): Promise<unknown> {
  const { signal } = new AbortController();
  switch (call.do) {
    case 'create':
    case 'start':
      return driver.create(call.request, signal);
    case 'rest':
      return driver.rest(call.agentId, call.executionId, call.request, signal);
    case 'save':
      return driver.save(call.agentId, call.executionId, call.request, signal);
  }
}

export const savedParts = ['manifest', 'pages', 'devices', 'listing', 'top layer', 'bottom layer'] as const;
export type SavedPart = (typeof savedParts)[number];

export interface Moment {
  readonly name: string;
  readonly at: number;
}

/** The beginning of the disk that stands for the browser's. */
export const browserText = 'a browser';

/** Access to one guest, in the implementation's own way. */
export interface GuestProbe {
  answers(): Promise<boolean>;
  /** Whether its daemon takes a call that carries this credential, or none. */
  admits(credential: string | null): Promise<boolean>;
  machine(): Promise<Pick<Machine, 'vcpus' | 'memoryMib'>>;
  /** Writes a file on its disk and syncs it. */
  writeFile(name: string, text: string): Promise<void>;
  /** Returns null when there is no such file. */
  readFile(name: string): Promise<string | null>;
  /** Packs the folder of its files, as its daemon does also where its processes stand still. */
  pack(): Promise<string>;
  /** Keeps a text in its memory alone. */
  remember(name: string, text: string): Promise<void>;
  recall(name: string): Promise<string | null>;
  /** Values that no two guests share: its names, its randomness, the credential of its host. */
  identity(): Promise<readonly string[]>;
  /** Whether its processes run. Its daemon answers and reads files also where they stand still. */
  acts(): Promise<boolean>;
  /** Prints on its console. */
  print(text: string): Promise<void>;
  /** The text that the browser's disk begins with (`browserText`); empty while the guest sees zeroes. */
  browserDisk(): Promise<string>;
  /** A TCP port at which something answers requests in HTTP, whoever asks. */
  port(): Promise<number>;
  /** Its own clock, milliseconds since the epoch. */
  clock(): Promise<number>;
}
