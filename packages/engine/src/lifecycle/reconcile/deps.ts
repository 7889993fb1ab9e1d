import type { FairGate, RuntimeKind } from '@lodge/domain';
import type { AgentLogStore, AgentRow, AgentRuntime, AgentSettings, AgentStore, Log } from '@lodge/ports';
import type { DiskKeeper } from '../disk/keeper.ts';
import type { DriverInUse, Endings } from '../endings.ts';
import type { Templates } from '../../templates/templates.ts';
import type { KeepAwakeLeases } from '../../turns/keep-awake.ts';
import type { RulesPut } from './rules-put.ts';

/** What the passes over one agent stand on. */
export interface ReconcilerDeps {
  readonly store: AgentStore;
  readonly logs: Pick<AgentLogStore, 'append' | 'appendFrom'>;
  readonly driver: DriverInUse;
  readonly endings: Endings;
  readonly templates: Templates;
  readonly runtimes: ReadonlyMap<RuntimeKind, AgentRuntime>;
  readonly settingsOf: (agent: AgentRow) => AgentSettings;
  readonly log: Log;
  /** Who holds the leases: the same name after a restart of this host's control plane, which is the only one that drives its VMs. */
  readonly holder: string;
  readonly bounds: StepBounds;
  readonly slots: {
    /** Clones and restores: seconds of CPU each, so that more at a time only makes each slower. */
    readonly warm: FairGate;
    /** Cold boots, which take minutes without KVM: apart, so that no create waits behind them. */
    readonly cold: FairGate;
    /** Snapshots: bound by the disk. Their guests may be silent, so accounts have parts of it. */
    readonly save: FairGate;
  };
  /** Empty at the start of a process. */
  readonly rulesPut: RulesPut;
  /** Sets room aside for a snapshot. */
  readonly disk: Pick<DiskKeeper, 'holdRoom'>;
  /** Keeps an agent awake that the loop itself has at work. */
  readonly keepAwake: Pick<KeepAwakeLeases, 'take' | 'drop'>;
  /** What the last look into the agent's guest found wrong. */
  readonly trouble: (agentId: string) => 'out_of_memory' | 'disk_full' | null;
}

/** How long each step may take at pace 1, milliseconds. What is over ends its operation with a reason. */
export interface StepBounds {
  /** From the create, or from the beginning of a cold boot, until the agent runs. */
  readonly provisionMs: number;
  readonly freezeMs: number;
  /** The same on a disk that is short, and busy: QEMU writes out what it holds of it before it answers. */
  readonly freezeOnFullDiskMs: number;
  readonly thawMs: number;
  /** Until the turn in hand has ended and the guest's disk is written out. */
  readonly quiesceMs: number;
  readonly snapshotMs: number;
  /** From a snapshot to an agent that runs. */
  readonly restoreMs: number;
  /** Until a runtime that is to be restarted has ended. */
  readonly shutdownMs: number;
  readonly resizeMs: number;
  /** Until changed egress rules are on the network of a machine. */
  readonly restrictMs: number;
  /** Until changed settings are in effect in a guest. */
  readonly applyMs: number;
  /** From the beginning of an upgrade until the agent runs on the newer template, or is given up and rolled back. */
  readonly upgradeMs: number;
  /** Until process, namespace and memory of a VM are freed. */
  readonly removeMs: number;
}

export const defaultBounds: Omit<StepBounds, 'provisionMs'> = {
  freezeMs: 10_000,
  freezeOnFullDiskMs: 60_000,
  thawMs: 30_000,
  quiesceMs: 90_000,
  snapshotMs: 180_000,
  restoreMs: 120_000,
  shutdownMs: 45_000,
  resizeMs: 60_000,
  restrictMs: 20_000,
  applyMs: 300_000,
  upgradeMs: 20 * 60_000,
  removeMs: 60_000,
};

/** The same bounds on a host of this pace (`VmDriver.pace`): within each step something waits for a guest. */
export function pacedBounds(bounds: StepBounds, pace: number): StepBounds {
  const entries = Object.entries(bounds).map(([name, ms]: [string, number]) => [name, ms * pace]);
  return Object.fromEntries(entries) as StepBounds;
}
