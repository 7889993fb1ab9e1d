import type { FairGate, RuntimeKind } from '@lodge/domain';
import type { AgentRuntime, AgentSettings, EndedOperation, Log } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import type { Store } from '@lodge/store';
import type { Database } from '@lodge/store/database';
import type { DiskKeeper } from '../disk/keeper.ts';
import type { DriverInUse, Endings } from '../endings.ts';
import type { Templates } from '../../templates/templates.ts';
import type { KeepAwakeLeases } from '../../turns/keep-awake.ts';
import type { Installs } from './installs.ts';
import type { Exports } from '../../saved/portable/exports.ts';
import type { PortableParts } from '../../saved/portable/parts.ts';
import type { RulesPut } from './rules-put.ts';

/** Dependencies of the passes over one agent. */
export interface ReconcilerDeps {
  readonly database: Database;
  readonly changes: Store['changes'];
  readonly onOperationEnded: ((operation: EndedOperation) => void) | undefined;
  readonly driver: DriverInUse;
  readonly endings: Endings;
  readonly templates: Templates;
  readonly runtimes: ReadonlyMap<RuntimeKind, AgentRuntime>;
  readonly settingsOf: (agent: AgentRow) => AgentSettings;
  readonly log: Log;
  /**
   * Name of the lease holder: it stays the same after a restart of this host's control plane, which alone drives its VMs.
   */
  readonly holder: string;
  readonly bounds: StepBounds;
  readonly slots: {
    /** Clones and restores: each takes seconds of CPU, so more at once only slow each other down. */
    readonly warm: FairGate;
    /** Cold boots, which take minutes without KVM; a separate gate, so that no create waits behind them. */
    readonly cold: FairGate;
    /** Snapshots, bound by the disk. Their guests may be silent, so each account has a share. */
    readonly save: FairGate;
  };
  /** Empty when the process starts. */
  readonly rulesPut: RulesPut;
  /** Reserves room for a snapshot. */
  readonly disk: Pick<DiskKeeper, 'holdRoom'>;
  /** Keeps an agent awake while the loop works in its guest. */
  readonly keepAwake: Pick<KeepAwakeLeases, 'take' | 'drop'>;
  /** Null where nothing installs packages. */
  readonly installs: Installs | null;
  /** Null where agents are neither exported nor imported. */
  readonly portable: (PortableParts & { readonly exports: Exports }) | null;
  /** Whether guests reach the package sources through the host alone, whatever their egress. */
  readonly packagesThroughHost: boolean;
  /** The trouble that the last look into the agent's guest found. */
  readonly trouble: (agentId: string) => 'out_of_memory' | 'disk_full' | null;
}

/** How long each step may take at pace 1, milliseconds. An operation that takes longer ends with a reason. */
export const defaultBounds = {
  freezeMs: 10_000,
  /** The same on a disk that is short and busy: QEMU writes its pending disk data out before it answers. */
  freezeOnFullDiskMs: 60_000,
  thawMs: 30_000,
  /** Until the running turn has ended and the guest's disk is written out. */
  quiesceMs: 90_000,
  snapshotMs: 180_000,
  /** Until the running turn has ended for a snapshot that is not a stop. */
  saveQuiesceMs: 30_000,
  /** From a snapshot to a running agent. */
  restoreMs: 120_000,
  /** Until a runtime has ended for a restart. */
  shutdownMs: 45_000,
  resizeMs: 60_000,
  /** Until changed egress rules are on the network of a machine. */
  restrictMs: 20_000,
  /** Until the browser's disk is below a guest's device; its build is not waited for. */
  showBrowserMs: 30_000,
  /** Until changed settings are in effect in a guest. */
  applyMs: 300_000,
  /** Until the wanted skills are in a guest, and its runtime has said how it sees them. */
  placeSkillsMs: 180_000,
  /** From the beginning of an upgrade until the agent runs on the newer template, or the upgrade is rolled back. */
  upgradeMs: 20 * 60_000,
  /** Until process, namespace and memory of a VM are freed. */
  removeMs: 60_000,
};

export interface StepBounds extends Readonly<typeof defaultBounds> {
  /** From the create, or from the beginning of a cold boot, until the agent runs. */
  readonly provisionMs: number;
}

/** Scales the bounds to a host's pace (`VmDriver.pace`), because each step waits for a guest somewhere. */
export function pacedBounds(bounds: StepBounds, pace: number): StepBounds {
  const entries = Object.entries(bounds).map(([name, ms]: [string, number]) => [name, ms * pace]);
  return Object.fromEntries(entries) as StepBounds;
}
